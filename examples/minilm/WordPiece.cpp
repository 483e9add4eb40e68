//===- WordPiece.cpp - the uncased BERT tokenizer -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "WordPiece.h"

#include "../json/Utf8.h"
#include "MappedFile.h"
#include "Unicode.h"

#include <algorithm>

namespace minilm {

using azulejo::ErrorCode;
using azulejo::makeError;
using azulejo::Result;

static constexpr size_t maxWordCharacters = 100;

static constexpr std::string_view specialTokens[] = {"[PAD]", "[UNK]", "[CLS]",
                                                     "[SEP]", "[MASK]"};

Result<WordPiece> WordPiece::open(const std::string &path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.error();
  std::vector<std::string> entries;
  std::string_view rest = file->text();
  while (!rest.empty()) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    entries.emplace_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return create(std::move(entries), path);
}

Result<WordPiece> WordPiece::create(std::vector<std::string> entries,
                                    const std::string &where) {
  WordPiece result;
  int32_t id = 0;
  for (std::string &entry : entries) {
    if (!result.idOf.emplace(std::move(entry), id).second)
      return makeError(ErrorCode::InvalidArgument, where,
                       "entry " + std::to_string(id) +
                           " repeats an earlier one",
                       "vocabulary.unique");
    ++id;
  }
  auto special = [&](const char *name, int32_t &into) {
    auto it = result.idOf.find(name);
    if (it != result.idOf.end())
      into = it->second;
    return it != result.idOf.end();
  };
  if (!special("[PAD]", result.padId) || !special("[UNK]", result.unknownId) ||
      !special("[CLS]", result.startId) || !special("[SEP]", result.endId))
    return makeError(ErrorCode::InvalidArgument, where,
                     "[PAD], [UNK], [CLS] or [SEP] is missing",
                     "vocabulary.special",
                     "the vocab.txt of an uncased BERT model is needed");
  return result;
}

/// Greedy longest match first. A word that cannot be cut completely gives one
/// [UNK], not its known parts.
void WordPiece::encodeWord(const std::u32string &word,
                           std::vector<int32_t> &ids) const {
  if (word.empty())
    return;
  if (word.size() > maxWordCharacters) {
    ids.push_back(unknownId);
    return;
  }
  std::string bytes;
  std::vector<size_t> boundary; // byte offset of each character, and the end
  for (char32_t c : word) {
    boundary.push_back(bytes.size());
    json::appendUtf8(c, bytes);
  }
  boundary.push_back(bytes.size());

  size_t kept = ids.size();
  size_t start = 0;
  std::string piece;
  while (start < word.size()) {
    size_t end = word.size();
    auto found = idOf.end();
    for (; end > start; --end) {
      piece = start ? "##" : "";
      piece.append(bytes, boundary[start], boundary[end] - boundary[start]);
      found = idOf.find(piece);
      if (found != idOf.end())
        break;
    }
    if (end == start) {
      ids.resize(kept);
      ids.push_back(unknownId);
      return;
    }
    ids.push_back(found->second);
    start = end;
  }
}

void WordPiece::encodePlain(std::string_view text,
                            std::vector<int32_t> &ids) const {
  std::u32string word, folded;
  auto endWord = [&] {
    encodeWord(word, ids);
    word.clear();
  };
  for (size_t at = 0; at < text.size();) {
    std::optional<char32_t> c = json::decodeUtf8(text, at);
    if (!c)
      continue;
    if (isSpace(*c)) {
      endWord();
      continue;
    }
    bool alone = isIdeograph(*c);
    if (alone)
      endWord();
    folded.clear();
    appendFolded(*c, folded);
    for (char32_t part : folded) {
      bool mark = isPunctuation(part);
      if (mark)
        endWord();
      word += part;
      if (mark)
        endWord();
    }
    if (alone)
      endWord();
  }
  endWord();
}

/// The special token at the front of the text, or nothing.
static std::string_view specialAtFront(std::string_view text) {
  for (std::string_view special : specialTokens)
    if (text.starts_with(special))
      return special;
  return {};
}

std::vector<int32_t> WordPiece::encode(std::string_view text,
                                       size_t maxLength) const {
  std::vector<int32_t> ids{startId};
  size_t plainFrom = 0;
  size_t at = text.find('[');
  while (at != text.npos) {
    std::string_view token = specialAtFront(text.substr(at));
    auto found = token.empty() ? idOf.end() : idOf.find(std::string(token));
    if (found == idOf.end()) {
      at = text.find('[', at + 1);
      continue;
    }
    encodePlain(text.substr(plainFrom, at - plainFrom), ids);
    ids.push_back(found->second);
    plainFrom = at + token.size();
    at = text.find('[', plainFrom);
  }
  encodePlain(text.substr(plainFrom), ids);
  ids.resize(std::min(ids.size(), std::max<size_t>(maxLength, 2) - 1));
  ids.push_back(endId);
  return ids;
}

TokenBatch WordPiece::encodeBatch(std::span<const std::string> texts,
                                  size_t maxLength) const {
  std::vector<std::vector<int32_t>> rows;
  TokenBatch batch;
  for (const std::string &text : texts) {
    rows.push_back(encode(text, maxLength));
    batch.lengths.push_back(static_cast<int32_t>(rows.back().size()));
    batch.columns =
        std::max(batch.columns, static_cast<int64_t>(rows.back().size()));
  }
  batch.rows = static_cast<int64_t>(rows.size());
  batch.ids.assign(static_cast<size_t>(batch.rows * batch.columns), padId);
  for (size_t i = 0; i < rows.size(); ++i)
    std::copy(rows[i].begin(), rows[i].end(),
              batch.ids.begin() + i * batch.columns);
  return batch;
}

} // namespace minilm
