// SPDX-License-Identifier: MIT
//
// The short steps of all families.

#ifndef NUMERA_NUMERICS_MULTIPLYADD_STEPS_H
#define NUMERA_NUMERICS_MULTIPLYADD_STEPS_H

#include "numera/Numerics/MultiplyAdd/StepFixed.h"
#include "numera/Numerics/MultiplyAdd/StepFloat.h"
#include "numera/Numerics/MultiplyAdd/StepHalf.h"
#include "numera/Numerics/MultiplyAdd/StepPosit.h"

namespace numera {

/// True if the family of F has short steps. ShortStep<T, F>{{f, form}}.exists()
/// is true for the formats and forms that have one.
template <typename T, typename F>
concept HasShortSteps = requires(ShortStep<T, F> step) { step.exists(); };

/// True if the family of F has steps in binary16, for some formats and forms.
template <typename F>
concept HasHalfSteps = requires(F f) { HalfStep{f, StepForm::Confined}; };

} // namespace numera

#endif // NUMERA_NUMERICS_MULTIPLYADD_STEPS_H
