//===- Workloads.cpp - what the row kernels compute, slowly ---------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "tests/gpu/Workloads.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>

namespace azulejo::gputest {

static constexpr int64_t kRedzone = 4096;
static constexpr unsigned char kRed = 0xff;

Matrix::Matrix(DType dtype, int64_t rows, int64_t lanes, bool padded)
    : dtype(dtype), rows(rows), lanes(lanes),
      stride(padded ? lanes + 3 : lanes) {
  int64_t element = dtypeBytes(dtype);
  first = kRedzone + (padded ? element : 0);
  memory.assign(first + rowCount() * stride * element + kRedzone, kRed);
}

double Matrix::at(int64_t row, int64_t lane) const {
  const unsigned char *from = &memory[byteOf(row, lane)];
  uint32_t bits = 0;
  if (dtype == DType::BF16) {
    uint16_t high;
    std::memcpy(&high, from, sizeof high);
    bits = uint32_t(high) << 16;
  } else {
    std::memcpy(&bits, from, sizeof bits);
  }
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void Matrix::set(int64_t row, int64_t lane, double value) {
  float narrow = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &narrow, sizeof bits);
  unsigned char *to = &memory[byteOf(row, lane)];
  if (dtype == DType::BF16) {
    // Inputs only: how they round does not matter, they are what is read.
    uint16_t high = static_cast<uint16_t>(bits >> 16);
    if (std::isnan(narrow))
      high |= 0x40;
    std::memcpy(to, &high, sizeof high);
  } else {
    std::memcpy(to, &bits, sizeof bits);
  }
}

bool Matrix::isCleanOutside() const {
  auto isRed = [this](int64_t begin, int64_t end) {
    return std::all_of(memory.begin() + begin, memory.begin() + end,
                       [](unsigned char byte) { return byte == kRed; });
  };
  int64_t end = 0;
  for (int64_t row = 0; row < rowCount(); ++row) {
    if (!isRed(end, byteOf(row, 0)))
      return false;
    end = byteOf(row, lanes);
  }
  return isRed(end, static_cast<int64_t>(memory.size()));
}

/// Calls `run(row)` for every row from all cores.
static void overRows(int64_t rows, const std::function<void(int64_t)> &run) {
  std::atomic<int64_t> next{0};
  constexpr int64_t kChunk = 16;
  auto work = [&] {
    for (int64_t from; (from = next.fetch_add(kChunk)) < rows;)
      for (int64_t row = from; row < std::min(rows, from + kChunk); ++row)
        run(row);
  };
  std::vector<std::thread> helpers;
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 1; i < count && rows > kChunk; ++i)
    helpers.emplace_back(work);
  work();
  for (std::thread &helper : helpers)
    helper.join();
}

void fillRandom(Matrix &matrix, uint64_t seed) {
  int64_t rows = std::max<int64_t>(matrix.rows, 1);
  overRows(rows, [&](int64_t row) {
    // A short multiplicative generator, started anew in every row.
    uint64_t state = (seed * 0x9e3779b97f4a7c15u) ^
                     (static_cast<uint64_t>(row + 1) * 0xbf58476d1ce4e5b9u);
    for (int64_t lane = 0; lane < matrix.lanes; ++lane) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double unit = static_cast<double>(state >> 40) / double(1 << 24);
      matrix.set(row, lane, 4 * unit - 2);
    }
  });
}

Comparison compare(const Matrix &got, const ExpectedRow &expected) {
  bool half = got.dtype == DType::BF16;
  double relative = std::ldexp(1.0, -20) + (half ? std::ldexp(1.0, -8) : 0);
  double absolute = std::numeric_limits<float>::min();
  Comparison total;
  // Over many elements roundings average out to well below their largest.
  bool many = std::max<int64_t>(got.rows, 1) * got.lanes >= 1024;
  total.normLimit = many ? relative / 2 : relative;
  double errors = 0, norms = 0;
  std::mutex mutex;
  overRows(std::max<int64_t>(got.rows, 1), [&](int64_t row) {
    std::vector<double> want(static_cast<size_t>(got.lanes));
    expected(row, want);
    double error = 0, norm = 0, worst = 0;
    int64_t wrong = 0;
    for (int64_t lane = 0; lane < got.lanes; ++lane) {
      double g = got.at(row, lane), w = want[static_cast<size_t>(lane)];
      if (std::isnan(g) || std::isnan(w)) {
        wrong += std::isnan(g) != std::isnan(w);
        continue;
      }
      if (std::isinf(g) || std::isinf(w)) {
        // A NaN count too: neither has a distance.
        wrong += g != w;
        continue;
      }
      error += (g - w) * (g - w);
      norm += w * w;
      worst = std::max(worst,
                       std::fabs(g - w) / (relative * std::fabs(w) + absolute));
    }
    std::lock_guard lock(mutex);
    errors += error;
    norms += norm;
    total.worstElement = std::max(total.worstElement, worst);
    total.wrongNans += wrong;
  });
  total.relativeNorm =
      norms > 0 ? std::sqrt(errors / norms) : std::sqrt(errors);
  return total;
}

void residualSum(const Matrix &x, const Matrix &r, int64_t row,
                 std::vector<double> &into) {
  for (int64_t lane = 0; lane < x.lanes; ++lane)
    into[static_cast<size_t>(lane)] = x.at(row, lane) + r.at(row, lane);
}

void residualRmsNorm(const Matrix &x, const Matrix &r, const Matrix &w,
                     int64_t row, std::vector<double> &into) {
  residualSum(x, r, row, into);
  double squares = 0;
  for (double value : into)
    squares += value * value;
  double scale = 1 / std::sqrt(squares / static_cast<double>(x.lanes) + 1e-6);
  for (int64_t lane = 0; lane < x.lanes; ++lane)
    into[static_cast<size_t>(lane)] *= scale * w.at(0, lane);
}

void softmax(const Matrix &x, int64_t row, std::vector<double> &into) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t lane = 0; lane < x.lanes; ++lane) {
    double value = x.at(row, lane);
    most = value > most || std::isnan(value) ? value : most;
  }
  for (int64_t lane = 0; lane < x.lanes; ++lane)
    sum += into[static_cast<size_t>(lane)] = std::exp(x.at(row, lane) - most);
  for (double &value : into)
    value /= sum;
}

} // namespace azulejo::gputest
