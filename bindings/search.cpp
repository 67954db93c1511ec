// Python side of the search without constraints.
#include <nanobind/stl/map.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <mutex>

#include "outcome.hpp"
#include "search/solve.hpp"

namespace exactsindy {

namespace {

// (factor, target, rest, ridge, size, starts, required and forbidden columns, objectives that pools of each size go up
// to)
using GivenRequest = std::tuple<StridedMatrix, Vector, Vector, Vector, int, std::vector<std::vector<int>>,
                                std::vector<int>, std::vector<int>, std::vector<double>>;

// Writes the records of a proof file; threads of the search take turns.
class ProofWriter {
 public:
  // The file begins anew, or goes on after the records of an earlier call.
  ProofWriter(const std::string& path, bool go_on) {
    if (path.empty()) return;
    file_.open(path, std::ios::binary | (go_on ? std::ios::app : std::ios::trunc));
    if (!go_on) file_ << "exactsindy-proof 1\n";
    sink_ = [this](std::uint64_t section, std::uint64_t chunk, std::span<const unsigned char> bytes) {
      const std::lock_guard lock(mutex_);
      number(section + 1);
      number(chunk);
      number(bytes.size());
      file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
  }
  const ProofSink* sink() const { return sink_ ? &sink_ : nullptr; }
  // Hands all that was written so far to the operating system.
  void flush() {
    const std::lock_guard lock(mutex_);
    if (sink_) file_.flush();
  }
  // Raises OSError if something could not be written.
  void close() {
    if (!sink_) return;
    file_.close();
    if (file_) return;
    PyErr_SetString(PyExc_OSError, "the proof could not be written; the disk may be full");
    throw nb::python_error();
  }

 private:
  void number(std::uint64_t n) {
    for (; n >= 128; n >>= 7) file_.put(static_cast<char>(n | 128));
    file_.put(static_cast<char>(n));
  }
  std::ofstream file_;
  std::mutex mutex_;
  ProofSink sink_;
};

using Save = nb::typed<nb::callable, void(nb::typed<nb::dict, int, nb::typed<nb::list, int>>)>;

// Takes what searches are stored as to Python. What Python raises ends the search and is passed on afterwards.
class Saver {
 public:
  Saver(const std::optional<Save>& save, ProofWriter& proof) : save_(save), proof_(proof) {}
  bool operator()(const Saved& saved) {
    proof_.flush();
    nb::gil_scoped_acquire gil;
    try {
      if (!failure_) (*save_)(nb::cast(saved));
    } catch (...) {
      failure_ = std::current_exception();
    }
    return !failure_;
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const std::optional<Save>& save_;
  ProofWriter& proof_;
  std::exception_ptr failure_;
};

Factor factor_of(const StridedMatrix& factor, const Vector& target, const Vector& rest, const Vector& ridge,
                 double coefficient_limit) {
  need_equation(factor, target, ridge);
  if (factor.stride(1) != 1 || factor.stride(0) < 0) throw std::invalid_argument("the rows of factor have gaps");
  return {factor.data(),    static_cast<std::size_t>(factor.stride(0)), view(target), view(rest), view(ridge),
          coefficient_limit};
}

Request request_of(const GivenRequest& given, double coefficient_limit) {
  const auto& [factor, target, rest, ridge, size, starts, required, forbidden, limits] = given;
  if (size < 0 || size > kMaxSize) throw std::invalid_argument("size out of range");
  if (!limits.empty() && limits.size() != static_cast<std::size_t>(size) + 1)
    throw std::invalid_argument("one limit per size expected");
  return {factor_of(factor, target, rest, ridge, coefficient_limit), size, starts, required, forbidden, limits};
}

std::vector<std::vector<records::Outcome>> solve_all(
    const std::vector<GivenRequest>& given, bool path, bool pool, int keep, double within, std::size_t capacity,
    double gap, double seconds, std::int64_t nodes, int threads, double coefficient_limit, const std::string& proof,
    std::uint64_t first_section, const std::optional<Progress>& progress, const Stopped& stopped,
    const std::optional<Save>& save, double save_every, const Saved& resume) {
  std::vector<Request> requests;
  for (const GivenRequest& one : given) requests.push_back(request_of(one, coefficient_limit));
  ProofWriter writer(proof, first_section > 0 || !resume.empty());
  Saver saver(save, writer);
  Options options{path, pool, keep, within, capacity, gap, {seconds, nodes, threads}, writer.sink(), first_section};
  if (save) options.save = std::ref(saver);
  options.save_every = save_every;
  options.resume = resume;
  Reporter reporter(progress, stopped);
  std::vector<Solved> results;
  {
    nb::gil_scoped_release release;
    results = solve(requests, options, std::ref(reporter));
  }
  reporter.rethrow();
  saver.rethrow();
  writer.close();
  std::vector<std::vector<records::Outcome>> out(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    for (const Outcome& outcome : results[i].outcomes) out[i].push_back(to_python(outcome, results[i].units));
  return out;
}

// The chunks of the proof that a stored search has finished; none if it is done: all of them.
std::optional<std::vector<std::uint64_t>> finished_chunks(const std::vector<std::int64_t>& numbers, int columns) {
  std::size_t at = 3;
  const auto most = static_cast<std::int64_t>(numbers.size());
  const std::int64_t kept = next_number(numbers, at, 0, most), smaller = next_number(numbers, at, 0, 1);
  for (std::int64_t i = 0; i < kept + smaller; ++i) {
    const std::int64_t size = next_number(numbers, at, 0, kMaxSize);
    for (std::int64_t j = 0; j < size; ++j) next_number(numbers, at, 0, columns);
  }
  Branches branches;
  std::uint64_t next = 0;
  if (columns < 0) throw std::invalid_argument("columns out of range");
  branches.read(numbers, at, std::vector<bool>(static_cast<std::size_t>(columns), true), next);
  if (branches.root()->done) return std::nullopt;
  std::vector<std::uint64_t> chunks;
  const std::function<void(const Branch&)> collect = [&](const Branch& branch) {
    if (branch.done) {
      if (branch.chunk > 0) chunks.push_back(branch.chunk);
      chunks.insert(chunks.end(), branch.chunks.begin(), branch.chunks.end());
    }
    for (const auto& below : branch.below) collect(*below);
  };
  collect(*branches.root());
  return chunks;
}

std::pair<records::Answer, double> refit_one(const StridedMatrix& factor, const Vector& target, const Vector& rest,
                                             const Vector& ridge, const std::vector<int>& support) {
  const Instance instance = Instance::from_factor(factor_of(factor, target, rest, ridge, kCoefficientLimit));
  const Units units = instance.units();
  std::vector<int> columns;
  for (std::size_t j = 0; j < instance.original.size(); ++j)
    if (std::find(support.begin(), support.end(), instance.original[j]) != support.end())
      columns.push_back(static_cast<int>(j));
  if (columns.size() > kMaxSize) throw std::invalid_argument("support too large");
  Refitter refitter(instance);
  Fit fit;
  refitter.fit(columns, fit);
  const Answer answer = answer_of(fit);
  return {to_python(answer, units), units.lower(answer.lower())};
}

}  // namespace

void bind_search(nb::module_& m) {
  m.attr("max_size") = kMaxSize;
  m.def("kernel_name", [] { return kernels().name; }, "Return the instruction set chosen at run time.");
  m.def("solve", &solve_all, nb::arg("requests"), nb::arg("path"), nb::arg("pool"), nb::arg("keep"), nb::arg("within"),
        nb::arg("capacity"), nb::arg("gap"), nb::arg("seconds"), nb::arg("nodes"), nb::arg("threads"),
        nb::arg("coefficient_limit"), nb::arg("proof"), nb::arg("first_section"), nb::arg("progress").none(),
        nb::arg("stopped"), nb::arg("save").none() = nb::none(), nb::arg("save_every") = 10.0,
        nb::arg("resume") = Saved{},
        "Solve (factor, target, rest, ridge, size, starts, required, forbidden, limits) requests; one list of outcomes "
        "per request.");
  m.def("finished_chunks", &finished_chunks, nb::arg("numbers"), nb::arg("columns"),
        "Return the chunks of its proof that a stored search has finished; None: all of them.");
  m.def("refit", &refit_one, nb::arg("factor"), nb::arg("target"), nb::arg("rest"), nb::arg("ridge"),
        nb::arg("support"),
        "Return the canonical least-squares fit of one support, and a lower bound of its objective.");
}

}  // namespace exactsindy
