#include "explore/recorded/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "tensmith/support/error.h"
#include "tensmith/support/file.h"

namespace tensmith {
namespace {

constexpr std::string_view kMagic = "\x1f\x8b";
constexpr int kGzipWindow = 15 + 16;  // the largest window, with gzip's header
constexpr size_t kPiece = size_t{1} << 16;

/// Whether so much of a member's beginning as is there is one: a file may be cut off anywhere.
bool begins_member(std::string_view bytes) { return kMagic.starts_with(bytes.substr(0, kMagic.size())); }

/// Feeds all of `text` to a stream. `step` (inflate or deflate) is called until it has nothing more to say.
template <typename Step>
void feed(z_stream& stream, std::string_view text, std::string& out, Step step) {
  std::array<char, kPiece> piece;
  bool more = true;
  while (more) {
    const size_t size = std::min<size_t>(text.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(size);
    const bool last = size == text.size();
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = static_cast<uInt>(piece.size());
      more = step(last);
      out.append(piece.data(), piece.size() - stream.avail_out);
    } while (more && (stream.avail_in > 0 || stream.avail_out == 0));
    text.remove_prefix(size - stream.avail_in);
    more = more && !text.empty();
  }
}

std::string gunzip(std::string_view bytes, const std::filesystem::path& path) {
  std::string out;
  // A file may be several members, one after the other. Tapes pad the last one with zeros.
  while (bytes.find_first_not_of('\0') != std::string_view::npos) {
    if (!begins_member(bytes)) {
      throw UserError(
          fmt::format("{}: behind the compressed data stand {} bytes that are none", path.string(), bytes.size()),
          "fetch or write the file anew");
    }
    z_stream stream{};
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw WorkError("zlib cannot start to decompress");
    int status = Z_OK;
    feed(stream, bytes, out, [&](bool) {
      status = inflate(&stream, Z_NO_FLUSH);
      return status == Z_OK;
    });
    const auto used = static_cast<size_t>(stream.total_in);
    const std::string why = stream.msg != nullptr ? stream.msg : "";
    inflateEnd(&stream);
    if (status != Z_STREAM_END) {
      const bool cut = status == Z_OK || status == Z_BUF_ERROR;
      throw UserError(
          fmt::format("{}: {}", path.string(),
                      cut ? "the compressed data ends too early" : "the compressed data is damaged: " + why),
          "fetch or write the file anew");
    }
    bytes.remove_prefix(used);
  }
  return out;
}

}  // namespace

std::string read_maybe_gzip(const std::filesystem::path& path) {
  std::string bytes = read_input(path);
  return !bytes.empty() && begins_member(bytes) ? gunzip(bytes, path) : bytes;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw WorkError("zlib cannot start to compress");
  }
  std::string out;
  feed(stream, text, out, [&](bool last) { return deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH) == Z_OK; });
  deflateEnd(&stream);
  return out;
}

}  // namespace tensmith
