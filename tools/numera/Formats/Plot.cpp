// SPDX-License-Identifier: MIT

#include "Plot.h"

#include "Precision.h"
#include "numera/Runtime/NewFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cerrno>
#include <cmath>

using namespace llvm;
using namespace numera;

namespace {

/// The colours of Okabe and Ito that stand out on white, which people with any
/// colour vision tell apart; behind the last they come again, dashed.
constexpr StringLiteral colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                     "#e69f00", "#56b4e9", "#000000"};
constexpr StringLiteral ink = "#222222", faint = "#e4e4e4";

// All lengths are pixels.
constexpr double width = 900, left = 62, right = 700, top = 54;
constexpr double panelHeight = 300, gap = 46, rowHeight = 24;
/// Up to that width every value is a line of its own.
constexpr unsigned widestDrawn = 8;

/// Maps [low, high] to pixels.
struct Axis {
  double low, high, from, to;
  double operator()(double value) const {
    return from + (value - low) / (high - low) * (to - from);
  }
};

/// What is drawn of a format.
struct Line {
  std::string name;
  StringRef colour;
  bool isDashed;
  std::vector<PrecisionStep> steps;
  std::vector<double> values; ///< of a narrow format
};

class Picture {
public:
  explicit Picture(ArrayRef<PlottedFormat> formats);
  std::string draw();

private:
  void drawFrame();
  void drawGrid();
  void drawPrecision(const Line &line, double y);
  void drawValues(const Line &line, double y);

  void text(double x, double y, StringRef anchor, StringRef content,
            StringRef attributes = "");
  void rule(double x1, double y1, double x2, double y2, StringRef colour);

  std::vector<Line> lines;
  Axis x, y;
  double rowsTop, rowsBottom;
  std::string svg;
  raw_string_ostream out{svg};
};

} // namespace

/// A coordinate: two places are a fiftieth of a pixel.
static std::string px(double value) {
  std::string text = formatv("{0:f2}", value).str();
  StringRef trimmed = StringRef(text).rtrim('0').rtrim('.');
  return trimmed == "-0" ? "0" : trimmed.str();
}

static std::string escape(StringRef text) {
  std::string escaped;
  raw_string_ostream out(escaped);
  printHTMLEscaped(text, out);
  return escaped;
}

/// The least of 1, 2, 4, … that gives at most `most` steps.
static int32_t stepFor(double span, double most) {
  int32_t step = 1;
  while (span / step > most)
    step *= 2;
  return step;
}

/// As many characters as fit beside the picture.
static std::string shorten(StringRef name) {
  constexpr size_t most = 24;
  return name.size() <= most ? name.str()
                             : (name.take_front(most - 1) + "…").str();
}

Picture::Picture(ArrayRef<PlottedFormat> formats) {
  double low = 1e9, high = -1e9, bits = 1;
  for (auto [index, plotted] : enumerate(formats)) {
    lines.push_back({plotted.label(),
                     colours[index % std::size(colours)],
                     index >= std::size(colours),
                     precisionSteps(plotted.format),
                     {}});
    if (plotted.format.width() <= widestDrawn)
      lines.back().values = positiveValues(plotted.format);
    for (double value : lines.back().values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    for (const PrecisionStep &step : lines.back().steps) {
      low = std::min(low, step.from);
      high = std::max(high, step.to);
      bits = std::max(bits, step.bits);
    }
  }
  if (low > high) // no format has a number above zero
    low = high = 0;
  double margin = std::max(0.5, (high - low) / 40);
  rowsTop = top + panelHeight + gap;
  rowsBottom = rowsTop + rowHeight * double(lines.size()) + 8;
  x = {low - margin, high + margin, left, right};
  y = {0, bits * 1.07 + 0.4, top + panelHeight, top};
}

void Picture::text(double x, double y, StringRef anchor, StringRef content,
                   StringRef attributes) {
  out << "<text x=\"" << px(x) << "\" y=\"" << px(y) << "\" text-anchor=\""
      << anchor << "\"" << attributes << ">" << content << "</text>\n";
}

void Picture::rule(double x1, double y1, double x2, double y2,
                   StringRef colour) {
  out << "<path d=\"M" << px(x1) << " " << px(y1) << "L" << px(x2) << " "
      << px(y2) << "\" stroke=\"" << colour << "\"/>\n";
}

static std::string power(int32_t base, int32_t exponent) {
  return formatv("{0}<tspan dy=\"-5\" font-size=\"9.5\">{1}{2}</tspan>", base,
                 exponent < 0 ? "−" : "", std::abs(exponent));
}

void Picture::drawGrid() {
  int32_t step = stepFor(x.high - x.low, 13);
  for (auto e = int32_t(std::ceil(x.low / step)) * step; e <= x.high;
       e += step) {
    rule(x(e), top, x(e), top + panelHeight, faint);
    rule(x(e), rowsTop, x(e), rowsBottom, faint);
    text(x(e), top + panelHeight + 18, "middle", power(2, e));
    text(x(e), rowsBottom + 18, "middle", power(2, e));
  }
  int32_t bitStep = stepFor(y.high, 10);
  for (int32_t bits = 0; bits <= y.high; bits += bitStep) {
    rule(left, y(bits), right, y(bits), faint);
    text(left - 8, y(bits) + 4, "end", itostr(bits));
  }
  // The same axis in decimal digits, on the right.
  const double bitsOfDigit = std::log2(10.0);
  int32_t digitStep = stepFor(y.high / bitsOfDigit, 8);
  for (int32_t digits = 0; digits * bitsOfDigit <= y.high;
       digits += digitStep) {
    rule(right, y(digits * bitsOfDigit), right + 5, y(digits * bitsOfDigit),
         ink);
    text(right + 9, y(digits * bitsOfDigit) + 4, "start", itostr(digits));
  }
}

void Picture::drawFrame() {
  double middle = top + panelHeight / 2;
  for (auto [from, to] :
       {std::pair{top, top + panelHeight}, {rowsTop, rowsBottom}})
    out << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" "
                   "fill=\"none\" stroke=\"{4}\"/>\n",
                   px(left), px(from), px(right - left), px(to - from), ink);
  std::string turned =
      formatv(" transform=\"rotate(-90 {0} {1})\"", px(22), px(middle)).str();
  text(22, middle, "middle", "significant bits", turned);
  turned =
      formatv(" transform=\"rotate(-90 {0} {1})\"", px(right + 40), px(middle))
          .str();
  text(right + 40, middle, "middle", "decimal digits", turned);
  text((left + right) / 2, rowsBottom + 40, "middle",
       "magnitude of the positive values");
}

void Picture::drawPrecision(const Line &line, double labelY) {
  std::string dash = line.isDashed ? " stroke-dasharray=\"7 3\"" : "";
  std::string path;
  for (const PrecisionStep &step : line.steps) {
    path += path.empty() ? "M" : "L";
    path += px(x(step.from)) + " " + px(y(step.bits));
    path += "H" + px(x(step.to));
  }
  StringRef style =
      " fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\"";
  if (!path.empty()) // a format of one number has no precision
    out << "<path d=\"" << path << "\" stroke=\"" << line.colour << "\""
        << style << dash << "/>\n";
  out << formatv("<path d=\"M{0} {1}h24\" stroke=\"{2}\"{3}{4}/>\n",
                 px(right + 62), px(labelY), line.colour, style, dash);
  text(right + 92, labelY + 4, "start", escape(shorten(line.name)));
}

void Picture::drawValues(const Line &line, double center) {
  double from = center - 8;
  text(right + 9, center + 4, "start", escape(shorten(line.name)));
  if (!line.values.empty()) {
    std::string path;
    for (double value : line.values)
      path += "M" + px(x(value)) + " " + px(from) + "v16";
    double space = (x(line.values.back()) - x(line.values.front())) /
                   double(line.values.size());
    out << "<path d=\"" << path << "\" stroke=\"" << line.colour
        << "\" stroke-width=\"" << px(std::clamp(space / 2, 0.35, 1.0))
        << "\"/>\n";
    return;
  }
  // Too many to draw: the more bits, the more values in a binade.
  for (const PrecisionStep &step : line.steps)
    out << formatv("<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"16\" "
                   "fill=\"{3}\" fill-opacity=\"{4:f2}\"/>\n",
                   px(x(step.from)), px(from), px(x(step.to) - x(step.from)),
                   line.colour, 0.08 + 0.92 * step.bits / y.high);
}

std::string Picture::draw() {
  double height = rowsBottom + 56;
  out << formatv(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" height=\"{1}\" font-family=\"Helvetica, Arial, "
      "'Liberation Sans', 'DejaVu Sans', sans-serif\" font-size=\"13\" "
      "fill=\"{2}\">\n",
      px(width), px(height), ink);
  std::string title =
      join(map_range(lines, [](const Line &line) { return escape(line.name); }),
           ", ");
  out << "<title>" << title << "</title>\n"
      << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  drawGrid();
  for (auto [index, line] : enumerate(lines)) {
    drawPrecision(line, top + 10 + 20 * double(index));
    drawValues(line, rowsTop + 4 + rowHeight * (double(index) + 0.5));
  }
  drawFrame();
  // As many names as the line holds.
  std::string heading =
      title.size() <= 60 ? title : itostr(int64_t(lines.size())) + " formats";
  text(left, top - 20, "start", "Relative precision of " + heading,
       " font-size=\"16\" font-weight=\"bold\"");
  out << "</svg>\n";
  return svg;
}

std::string numera::plot(ArrayRef<PlottedFormat> formats) {
  return Picture(formats).draw();
}

bool numera::writePlot(ArrayRef<PlottedFormat> formats, StringRef path,
                       std::string &error) {
  std::string picture = plot(formats);
  if (path == "-") {
    outs() << picture;
    return true;
  }
  auto failed = [&](const Twine &reason) {
    error = ("cannot write '" + path + "': " + reason).str();
    return false;
  };
  if (sys::fs::is_directory(path))
    return failed("is a folder");
  // A file is replaced, which is not what anyone wants of a device.
  if (sys::fs::exists(path) && !sys::fs::is_regular_file(path))
    return failed("it is not a regular file");
  auto systemFailed = [&] {
    return failed(std::error_code(errno, std::generic_category()).message());
  };
  std::optional<host::NewFile> file =
      host::NewFile::create(path.str().c_str(), 0666);
  if (!file)
    return systemFailed();
  raw_fd_ostream out(file->descriptor(), /*shouldClose=*/false);
  out << picture;
  out.flush();
  if (out.has_error()) {
    std::string reason = out.error().message();
    out.clear_error();
    return failed(reason);
  }
  if (!file->keep())
    return systemFailed();
  return true;
}
