// The names in plans and lines: isolation levels, verdicts, limits, and who is at fault for a JE.
//
// Each name is defined once, in a `switch` without `default`. If one is forgotten, the code does not compile (the tests
// compile it with -Werror=switch).
#pragma once

namespace runner {

enum class Isolation { None, Reduced, Full };
constexpr Isolation kIsolations[] = {Isolation::None, Isolation::Reduced, Isolation::Full};

constexpr const char* name_of(Isolation isolation) {
  switch (isolation) {
    case Isolation::None: return "none";
    case Isolation::Reduced: return "reduced";
    case Isolation::Full: return "full";
  }
  return "";
}

// The order is that of PROTOCOL.md.
enum class Verdict { AC, PA, WA, TLE, MLE, OLE, SV, RE, JE, LeftToClient };

// nullptr: the client judges the output.
constexpr const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::AC: return "AC";
    case Verdict::PA: return "PA";
    case Verdict::WA: return "WA";
    case Verdict::TLE: return "TLE";
    case Verdict::MLE: return "MLE";
    case Verdict::OLE: return "OLE";
    case Verdict::SV: return "SV";
    case Verdict::RE: return "RE";
    case Verdict::JE: return "JE";
    case Verdict::LeftToClient: return nullptr;
  }
  return nullptr;
}

// The rule that stopped a program, or a step of a compilation (Wall, FileSize and Processes only such a step).
enum class Limit { None, Cpu, Idle, Wall, Memory, Output, FileSize, Files, Threads, Processes };

// nullptr: no rule did.
constexpr const char* name_of(Limit limit) {
  switch (limit) {
    case Limit::None: return nullptr;
    case Limit::Cpu: return "cpu";
    case Limit::Idle: return "idle";
    case Limit::Wall: return "wall";
    case Limit::Memory: return "memory";
    case Limit::Output: return "output";
    case Limit::FileSize: return "file";
    case Limit::Files: return "files";
    case Limit::Threads: return "threads";
    case Limit::Processes: return "processes";
  }
  return nullptr;
}

// How a judge program failed, or we did.
enum class JudgeFault { None, Exit, Signal, Time, Memory, Score, Stall, Overload, Start };

constexpr const char* name_of(JudgeFault fault) {
  switch (fault) {
    case JudgeFault::None: return "";
    case JudgeFault::Exit: return "exit";
    case JudgeFault::Signal: return "signal";
    case JudgeFault::Time: return "time";
    case JudgeFault::Memory: return "memory";
    case JudgeFault::Score: return "score";
    case JudgeFault::Stall: return "stall";
    case JudgeFault::Overload: return "overload";
    case JudgeFault::Start: return "start";
  }
  return "";
}

// Why a whole job has no result.
enum class FaultKind { Plan, Isolation, Limits, System };

constexpr const char* name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::Plan: return "plan";
    case FaultKind::Isolation: return "isolation";
    case FaultKind::Limits: return "limits";
    case FaultKind::System: return "system";
  }
  return "";
}

// Who failed. A checker or manager has this name in its own directory, too.
enum class TrustedProgram { Runner, Checker, Manager };

constexpr const char* name_of(TrustedProgram program) {
  switch (program) {
    case TrustedProgram::Runner: return "runner";
    case TrustedProgram::Checker: return "checker";
    case TrustedProgram::Manager: return "manager";
  }
  return "";
}

}  // namespace runner
