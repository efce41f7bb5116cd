# SPDX-License-Identifier: MIT
"""Reports: what a format did to a model, as a page (docs/Reports.md)."""

from numera.reports._hints import Hint
from numera.reports._measure import Measured, Row
from numera.reports._report import Report, report

__all__ = ["Hint", "Measured", "Report", "Row", "report"]
