import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programShape } from "../../src/player/execution.ts";
import { ProgramLibrary } from "../../src/player/programLibrary.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

const LIE = { step: 0, element: 1 };

describe("a watcher whose model comes late", function () {
  const players = usePlayers("test");
  const program = mlpProgram();
  let cacheFolder: string;
  before(() => void (cacheFolder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(cacheFolder, { recursive: true, force: true }));

  const mine = (blocks: number): Promise<unknown> =>
    players().chain.provider.request({ method: "hardhat_mine", params: [`0x${blocks.toString(16)}`] });

  /** A library as a catalogue fills it: it was told to know the same at each start. */
  function library(): ProgramLibrary {
    const programs = new ProgramLibrary();
    programs.addSource({ awaits: () => false, content: ["catalogue"] });
    return programs;
  }
  const learn = (programs: ProgramLibrary): void =>
    programs.add({
      root: program.model.programRoot,
      shape: programShape(program),
      load: () => Promise.resolve(program),
    });

  for (const isRestarted of [false, true])
    it(`judgesAClaimWhoseInputItHasForgotten${isRestarted ? "_afterARestartToo" : ""}`, async function () {
      await players().post(program, [mlpInput(1)]);
      const liar = await players().startWorker(await players().workerKey(), program, reference(LIE));
      await first(liar, "submitted");
      await liar.stop();
      await mine(400);
      const key = await players().watcherKey();
      let programs = library();
      let watcher = await players().startWatcher(key, program, reference(), { programs, cacheFolder });
      await first(watcher, "unknown");
      if (isRestarted) {
        await watcher.stop();
        programs = library();
        watcher = await players().startWatcher(key, program, reference(), { programs, cacheFolder });
        await first(watcher, "unknown");
      }
      learn(programs);
      await first(watcher, "opened");
      await watcher.stop();
    });
});
