// --html: one file that fetches nothing, and that a browser lays out without overflow, at a phone's width and a desk's.
// And plot.py: each picture that its data allows is made.
#include "../skipped.hpp"
#include "process.hpp"

#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

using namespace seidel::tests;

namespace {

int shell(const std::string& command) { return std::system(("(" + command + ") > /dev/null 2>&1").c_str()); }

std::string chromium() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
    if (shell(std::string("command -v ") + name) == 0) return name;
  return "";
}

/// Pixels of a PNG of 8-bit RGB or RGBA, as chromium writes them (the PNG specification, sections 7 to 9).
struct Picture {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint32_t> rgb;
};
Picture decoded(const std::string& png) {
  const auto number = [&](std::size_t at) {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < 4; ++i) n = n << 8 | static_cast<unsigned char>(png.at(at + i));
    return n;
  };
  Picture picture;
  REQUIRE(png.size() > 33);
  picture.width = number(16), picture.height = number(20);
  REQUIRE(png[24] == 8);
  const std::size_t channels = png[25] == 6 ? 4 : 3;
  std::string packed;
  for (std::size_t at = 8; at + 8 <= png.size(); at += 12 + number(at))
    if (png.substr(at + 4, 4) == "IDAT") packed += png.substr(at + 8, number(at));
  const std::size_t line = 1 + channels * picture.width;
  std::vector<unsigned char> raw(line * picture.height);
  uLongf size = raw.size();
  REQUIRE(uncompress(raw.data(), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size()) == Z_OK);
  REQUIRE(size == raw.size());
  for (std::size_t y = 0; y < picture.height; ++y)
    for (std::size_t x = 1; x < line; ++x) {
      unsigned char* const here = &raw[y * line + x];
      const int a = x > channels ? here[-std::ptrdiff_t(channels)] : 0, b = y > 0 ? here[-std::ptrdiff_t(line)] : 0,
                c = x > channels && y > 0 ? here[-std::ptrdiff_t(channels + line)] : 0, p = a + b - c;
      switch (raw[y * line]) {
        case 1: *here = static_cast<unsigned char>(*here + a); break;
        case 2: *here = static_cast<unsigned char>(*here + b); break;
        case 3: *here = static_cast<unsigned char>(*here + (a + b) / 2); break;
        case 4:
          *here = static_cast<unsigned char>(
              *here + (std::abs(p - a) <= std::abs(p - b) && std::abs(p - a) <= std::abs(p - c) ? a
                       : std::abs(p - b) <= std::abs(p - c)                                     ? b
                                                                                                : c));
          break;
        default: break;
      }
    }
  for (std::size_t y = 0; y < picture.height; ++y)
    for (std::size_t x = 0; x < picture.width; ++x) {
      const unsigned char* const at = &raw[y * line + 1 + channels * x];
      picture.rgb.push_back(std::uint32_t(at[0]) << 16 | std::uint32_t(at[1]) << 8 | at[2]);
    }
  return picture;
}

struct Page {
  std::string name, command;
  int exit_code;
  std::string html;
};
/// Made once: two tests look at them.
const std::vector<Page>& pages() {
  static const std::vector<Page> made = [] {
    const Folder folder;
    std::vector<Page> all;
    for (const auto& [name, words] : std::vector<std::pair<std::string, Words>>{
             {"solve", {"solve", "poisson2d:30"}},
             {"failed", {"solve", "convdiff:30", "--max-iterations", "3"}},
             {"validate", {"validate", "poisson2d:7", "--backend", "serial"}},
             {"spmv", {"bench", "spmv", "poisson2d:20", "--trials", "2", "--backend", "serial"}},
             {"symgs",
              {"bench", "symgs", "poisson2d:20", "--trials", "2", "--backend", "serial", "--order", "natural,colours",
               "--warm"}},
             {"suite",
              {"bench", "spmm", "poisson2d:9", "elasticity3d:2", "--k", "2,8", "--trials", "2", "--backend", "serial",
               "--warm"}},
             {"contest", {"bench", "solve", "poisson2d:20", "--backend", "serial"}}}) {
      const std::string file = folder / (name + "<&>.html");
      const int exit_code = seidel_program(words + Words{"--html", file, "--quiet"}).exit_code;
      all.push_back({name, "seidel " + words[0], exit_code, read_file(file)});
    }
    return all;
  }();
  return made;
}

/// A frame so wide (a headless window has a least width) with a page, and a script in it that reports what does not
/// fit: the page itself, and each text of a chart that leaves its picture.
std::string framed(const Page& page, int width) {
  std::string framed = page.html;
  framed.insert(framed.rfind("</body>"), R"(<script>addEventListener('load', () => {
    const e = document.documentElement, bad = [];
    if (e.scrollWidth > e.clientWidth) bad.push('page ' + e.scrollWidth + ' > ' + e.clientWidth);
    for (const svg of document.querySelectorAll('svg')) { const s = svg.getBoundingClientRect();
      if (s.right > e.clientWidth + 1) bad.push('chart');
      for (const t of svg.querySelectorAll('text')) { const r = t.getBoundingClientRect();
        if (r.left < s.left - 1 || r.right > s.right + 1) bad.push('text ' + t.textContent); } }
    for (const t of document.querySelectorAll('dd, pre, h1, h2, .verdict'))
      if (t.scrollWidth > t.clientWidth + 1) bad.push('box ' + t.textContent);
    parent.postMessage('[NAME: ' + bad.join('; ') + ']', '*'); });</script>)");
  framed.replace(framed.rfind("NAME"), 4, page.name + " " + std::to_string(width));
  std::string quoted;
  for (const char c : framed)
    quoted += c == '&' ? std::string("&amp;") : c == '"' ? std::string("&quot;") : std::string(1, c);
  return "<iframe style=\"border:0;height:900px;width:" + std::to_string(width) + "px\" srcdoc=\"" + quoted +
         "\"></iframe>";
}

/// What the scripts of these frames report, all in one browser: to start one takes seconds.
std::string layouts_of(const Folder& folder, const std::string& browser, const std::string& frames) {
  write_file(folder / "frames.html",
             "<body><p id=said></p><script>onmessage = m => said.textContent += m.data</script>" + frames + "</body>");
  shell(
      browser +
      " --headless --no-sandbox --disable-gpu --window-size=1400,1000 --virtual-time-budget=9000 --dump-dom 'file://" +
      (folder / "frames.html") + "' | grep -o '<p id=\"said\">.*</p>' | head -1 | tee '" + (folder / "said") + "'");
  return read_file(folder / "said");
}

}  // namespace

TEST_CASE("a page is one file that fetches nothing, escapes what it quotes, and carries its command") {
  for (const Page& page : pages()) {
    CAPTURE(page.name);
    const bool failed = page.name == "failed";
    CHECK(page.exit_code == (failed ? 1 : 0));
    CHECK(page.html.starts_with("<!DOCTYPE html>"));
    for (const char* fetched : {"http:", "https:", "src=", "url(", "@import", "<script", "<&>"}) {
      CAPTURE(fetched);
      CHECK(!contains(page.html, fetched));
    }
    for (const std::string& part : {page.command, std::string("&lt;&amp;&gt;.html"), std::string("<svg")})
      CHECK_MESSAGE(contains(page.html, part), part);
    CHECK(contains(page.html, failed ? "class=\"verdict bad\"" : "class=\"verdict good\""));
  }
}

TEST_CASE("pages say what the text says: every attempt, the threads, times with their units, what a cell means") {
  const Folder folder;
  const auto page_of = [&](const Words& words) {
    seidel_program(words + Words{"--html", folder / "page.html", "--quiet"});
    return read_file(folder / "page.html");
  };
  const std::string failed = page_of({"solve", "random:60x60:1000", "--tol", "1e-30"});  // gmres, then factors
  for (const char* part : {"<dt>gmres</dt>", "<dt>direct</dt>", "Likely: ", "Or perhaps: "})
    CHECK_MESSAGE(contains(failed, part), part);
  CHECK(!contains(failed, "<dd></dd>"));
  CHECK(contains(page_of({"solve", "poisson2d:9", "--backend", "openmp", "--threads", "2"}), "openmp, 2 threads"));
  CHECK(contains(page_of({"solve", "poisson2d:9", "--precond", "symgs"}), "symgs in natural order, 17 wavefronts"));
  CHECK(!contains(page_of({"solve", "poisson2d:9", "--set", "atol=1e3"}), "target 1.0e-08"));
  CHECK(contains(page_of({"validate", "poisson2d:3", "--only", "spmv.*"}), "of the bound that rounding allows"));
  write_file(folder / "B.txt", "1 0 3\n2 0 1\n3 0 2\n4 0 9\n");
  const std::string columns = page_of({"solve", "poisson2d:2", "--rhs", folder / "B.txt"});
  for (const char* part : {"Each right-hand side", "<dt>column 1</dt><dd>solved: ", "<dt>column 2</dt><dd>solved: ",
                           "<dt>column 3</dt><dd>solved: "})
    CHECK_MESSAGE(contains(columns, part), part);
}

TEST_CASE("a browser lays a page out without overflow, and its chart is drawn") {
  const std::string browser = chromium();
  if (browser.empty()) {
    skipped("no chromium here");
    return;
  }
  const Folder folder;
  std::string frames;
  for (const Page& page : pages())
    for (const int width : {360, 1200}) frames += framed(page, width);
  const std::string said = layouts_of(folder, browser, frames);
  CAPTURE(said);
  for (const Page& page : pages())
    for (const int width : {360, 1200}) CHECK(contains(said, "[" + page.name + " " + std::to_string(width) + ": ]"));
  write_file(folder / "solve.html", pages().front().html);
  // The curve of the residual: pixels of the first series' colour in most columns of the picture's width.
  shell(browser + " --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,1400 --screenshot='" +
        (folder / "solve.png") + "' 'file://" + (folder / "solve.html") + "'");
  const Picture picture = decoded(read_file(folder / "solve.png"));
  CHECK(picture.width == 1200);
  std::set<std::size_t> columns;
  std::map<std::uint32_t, std::size_t> colours;
  for (std::size_t at = 0; at < picture.rgb.size(); ++at) {
    ++colours[picture.rgb[at]];
    if (picture.rgb[at] == 0x0072b2) columns.insert(at % picture.width);
  }
  CHECK(columns.size() > 400);
  CHECK(colours[0x0072b2] < picture.rgb.size() / 50);  // a line, not an area
  CHECK(colours[0xffffff] > picture.rgb.size() / 2);
}

TEST_CASE("plot.py draws each picture that its data allows") {
  const std::string script = std::string(SEIDEL_SOURCE_DIR) + "/drivers/plot.py";
  const Folder folder;
  std::string python;
  for (const char* name : {"python3", "/usr/bin/python3"})
    if (python.empty() && shell(std::string(name) + " -c 'import matplotlib'") == 0) python = name;
  if (python.empty()) {
    skipped("no Python with matplotlib here");
    return;
  }
  for (const std::string kernel : {"spmv", "symgs", "transpose"}) {
    // What is drawn against a property of matrices wants several; once is enough, since each picture takes 0.2 s.
    // Scaling wants threads; busy machines want few of them. No roofline is drawn of transpose.
    const Words more = kernel == "spmv"
                           ? Words{"elasticity3d:3", "convdiff:11", "--threads", "1,2", "--only", "*.csr.*"}
                       : kernel == "symgs" ? Words{"--backend", "serial"}
                                           : Words{"--backend", "serial", "--warm"};
    const Words words =
        Words{"bench", kernel, "poisson2d:20", "--trials", "2", "--quiet", "--csv", folder / (kernel + ".csv")} + more;
    succeeded(words);
  }
  succeeded({"solve", "poisson2d:20", "--quiet", "--json", folder / "solve.json"});
  REQUIRE(shell(python + " " + script + " " + (folder / "spmv.csv") + " " + (folder / "symgs.csv") + " " +
                (folder / "transpose.csv") + " --residuals " + (folder / "solve.json") + " -o " +
                (folder / "pictures")) == 0);
  for (const char* name :
       {"spmv-roofline-host", "spmv-against-nnz", "spmv-against-row-variance", "spmv-against-padding-indicator",
        "spmv-box-poisson2d-20", "spmv-box-convdiff-11", "spmv-scaling", "spmv-speedup", "spmv-correlation",
        "symgs-roofline-host", "symgs-speedup", "transpose-speedup", "residuals"}) {
    CAPTURE(name);
    CHECK(std::filesystem::exists(folder / ("pictures/" + std::string(name) + ".png")));
  }
  write_file(folder / "empty.csv", "kernel,seconds\n");
  CHECK(shell(python + " " + script + " " + (folder / "empty.csv")) != 0);
}
