//===- PlantedCode.cpp - good candidates made bad -------------------------===//
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#include "PlantedCode.h"

#include <cstring>

namespace azulejo::test {

const char *plantName(Plant plant) {
  switch (plant) {
  case Plant::Null:
    return "null";
  case Plant::Trap:
    return "trap";
  case Plant::Loop:
    return "loop";
  case Plant::Nothing:
    return "nothing";
  case Plant::Half:
    return "half";
  case Plant::OneByteUnder:
    return "one byte under";
  case Plant::OneByteOver:
    return "one byte over";
  case Plant::Wrong:
    return "wrong";
  case Plant::WritesInput:
    return "writes input";
  case Plant::WrongIfLarge:
    return "wrong if large";
  case Plant::Unsteady:
    return "unsteady";
  case Plant::Memory:
    return "memory";
  case Plant::Stack:
    return "stack";
  case Plant::LastBit:
    return "last bit";
  }
  return "";
}

namespace {

class Assembler {
public:
  explicit Assembler(driver::KernelCode &code) : code(code) {
    while (code.image.size() % 16)
      code.image += '\xcc';
    begin = static_cast<int64_t>(code.image.size());
  }
  Assembler &bytes(std::initializer_list<int> list) {
    for (int byte : list)
      code.image += static_cast<char>(byte);
    return *this;
  }
  Assembler &word(int32_t value) {
    char raw[4];
    std::memcpy(raw, &value, 4);
    code.image.append(raw, 4);
    return *this;
  }
  /// E8 call or E9 jmp to the good code.
  Assembler &good(int opcode) {
    bytes({opcode});
    return word(static_cast<int32_t>(
        code.entryOffset - static_cast<int64_t>(code.image.size()) - 4));
  }
  /// Calls the good code and keeps rdi.
  Assembler &callGood() { return bytes({0x57}).good(0xe8).bytes({0x5f}); }
  /// mov rax, [rdi + 8 * arg]
  Assembler &loadRax(int arg) {
    return bytes({0x48, 0x8b, 0x87}).word(8 * arg);
  }
  Assembler &ret() { return bytes({0xc3}); }
  void enter() { code.entryOffset = begin; }

private:
  driver::KernelCode &code;
  int64_t begin;
};

} // namespace

void plant(driver::KernelCode &code, Plant what, int outputArg, int inputArg,
           int rowsArg, int32_t rowBytes) {
  Assembler a(code);
  switch (what) {
  case Plant::Null: // xor eax, eax; mov eax, [rax]; ret
    a.bytes({0x31, 0xc0, 0x8b, 0x00}).ret();
    break;
  case Plant::Trap: // ud2
    a.bytes({0x0f, 0x0b});
    break;
  case Plant::Loop: // jmp $
    a.bytes({0xeb, 0xfe});
    break;
  case Plant::Nothing:
    a.ret();
    break;
  case Plant::Half: // add rdx, rsi; shr rdx, 1
    a.bytes({0x48, 0x01, 0xf2, 0x48, 0xd1, 0xea}).good(0xe9);
    break;
  case Plant::OneByteUnder: // mov byte [rax - 1], 0
    a.callGood().loadRax(outputArg).bytes({0xc6, 0x40, 0xff, 0x00}).ret();
    break;
  case Plant::OneByteOver:
    // imul rcx, [rdi + 8 * rowsArg], rowBytes; mov byte [rax + rcx], 0
    a.callGood().loadRax(outputArg).bytes({0x48, 0x69, 0x8f});
    a.word(8 * rowsArg).word(rowBytes);
    a.bytes({0xc6, 0x04, 0x08, 0x00}).ret();
    break;
  case Plant::Wrong: // mov dword [rax], 1.0f
    a.callGood().loadRax(outputArg).bytes({0xc7, 0x00}).word(0x3f800000).ret();
    break;
  case Plant::WritesInput: // mov byte [rax], 0
    a.callGood().loadRax(inputArg).bytes({0xc6, 0x00, 0x5a}).ret();
    break;
  case Plant::WrongIfLarge:
    // cmp qword [rdi + 8 * rowsArg], 50; jb over the store
    a.callGood().loadRax(outputArg).bytes({0x48, 0x81, 0xbf});
    a.word(8 * rowsArg).word(50).bytes({0x72, 0x06, 0xc7, 0x00});
    a.word(0x3f800000).ret();
    break;
  case Plant::Unsteady:
    // mov r8, rax; rdtsc; mov ecx, 32
    a.callGood().loadRax(outputArg).bytes({0x49, 0x89, 0xc0, 0x0f, 0x31, 0xb9});
    // mov edx, eax; and edx, 1; xor [r8], edx
    a.word(32).bytes({0x89, 0xc2, 0x83, 0xe2, 0x01, 0x41, 0x31, 0x10});
    // add r8, 4; shr eax, 1; dec ecx; jnz to the mov of edx
    a.bytes({0x49, 0x83, 0xc0, 0x04, 0xd1, 0xe8, 0xff, 0xc9, 0x75, 0xee}).ret();
    break;
  case Plant::Memory:
    // mov eax, 9 (mmap); xor edi, edi; mov esi, 1 << 30; mov edx, 3
    a.bytes({0xb8}).word(9).bytes({0x31, 0xff, 0xbe}).word(1 << 30);
    a.bytes({0xba}).word(3);
    // mov r10d, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE; mov r8, -1
    a.bytes({0x41, 0xba}).word(0x4022).bytes({0x49, 0xc7, 0xc0}).word(-1);
    // xor r9d, r9d; syscall; test rax, rax; jns to the start
    a.bytes({0x45, 0x31, 0xc9, 0x0f, 0x05, 0x48, 0x85, 0xc0, 0x79, 0xd8});
    a.bytes({0xc6, 0x00, 0x01}).ret(); // mov byte [rax], 1
    break;
  case Plant::Stack: // call $
    a.bytes({0xe8}).word(-5);
    break;
  case Plant::LastBit: // or byte [rax], 1
    a.callGood().loadRax(outputArg).bytes({0x80, 0x08, 0x01}).ret();
    break;
  }
  a.enter();
}

} // namespace azulejo::test
