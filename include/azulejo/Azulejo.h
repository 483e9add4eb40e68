//===- Azulejo.h - everything -----------------------------------*- C++ -*-===//
//
// The headers are inline over the C ABI (c/azulejo.h), which is all that the
// library exports; so no C++ ABI is promised and none can break.
//
// Part of azulejo, under Apache-2.0 WITH LLVM-exception.
//===----------------------------------------------------------------------===//
#ifndef AZULEJO_AZULEJO_H
#define AZULEJO_AZULEJO_H

#include "azulejo/Cache.h"
#include "azulejo/Compile.h"
#include "azulejo/DType.h"
#include "azulejo/Device.h"
#include "azulejo/Error.h"
#include "azulejo/Executable.h"
#include "azulejo/Explain.h"
#include "azulejo/Graph.h"
#include "azulejo/Inspect.h"
#include "azulejo/Memory.h"
#include "azulejo/Ops.h"
#include "azulejo/Tensor.h"
#include "azulejo/Trace.h"
#include "azulejo/Version.h"

#endif // AZULEJO_AZULEJO_H
