/** An executor in a separate process, for tests: does tasks about `runProgram`. */
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { FolderStore } from "../../src/runs/fleet/folderStore.ts";
import type { Task } from "../../src/runs/fleet/task.ts";
import { TaskHandler } from "../../src/runs/fleet/taskHandler.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { runProgram } from "../programs/runProgram.ts";

const { handle } = new TaskHandler({
  name: `process ${process.pid}`,
  programs: ProgramLibrary.of([runProgram()]),
  store: new FolderStore(process.env.REFUTE_TEST_STORE!),
  execute: new FastExecutors({ threads: 1 }).execute,
});

process.on("message", ({ number, task }: { number: number; task: Task }) => {
  handle(task).then(
    (outcome) => process.send!({ number, outcome }),
    (error: Error) => process.send!({ number, reason: error.message }),
  );
});
