import { MerkleList } from "../../src/merkle/list.ts";
import { ONE_ITEM } from "../../src/program/run.ts";
import type { Execution } from "../../src/player/execution.ts";
import { RunExecution } from "../../src/player/runExecution.ts";
import { RunInputs } from "../../src/trace/runInputs.ts";

/** The run whose only item is an execution. */
export function runOfOne({ inputs, trace, ...program }: Execution): RunExecution {
  const runInputs = new RunInputs(program.model.program.inputs, ONE_ITEM, inputs);
  return new RunExecution(program, runInputs, MerkleList.fromHashes([trace.root]), { ...program, inputs, trace });
}
