import { expect } from "chai";
import { Health } from "../../src/base/health.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { first, quiet, reference } from "../../testkit/players/players.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";

const HOUR = 3_600;

describe("a machine whose clock is an hour off", function () {
  const players = usePlayers("test");
  const program = mlpProgram();
  const { now } = Date;
  afterEach(() => void (Date.now = now));

  for (const [name, hours, says] of [
    ["ahead", 1, /is 3\d\d\d s old/],
    ["behind", -1, /is of 3\d\d\d s later than this machine's clock/],
  ] as const)
    it(`${name}: aLieIsRefuted_alsoIfTheClockIsSetAmidTheGame_andTheClockIsSaid`, async () => {
      const set = (seconds: number): void => void (Date.now = () => now() + 1_000 * seconds);
      set(hours * HOUR);
      const behind = Number(await players().chain.now()) - now() / 1_000;
      const health = new Health(quiet);
      const clock = (): number => Date.now() / 1_000 + behind;
      await players().post(program, [mlpInput(1)]);
      const liar = await players().startWorker(
        await players().workerKey(),
        program,
        reference({ step: 0, element: 1 }),
      );
      const key = await players().watcherKey();
      const watcher = await players().startWatcher(key, program, reference(), { health, clock });
      await first(watcher, "opened");
      expect(health.problem("chain")?.reason).to.match(says);
      set(-hours * HOUR);
      await first(watcher, "moved", ({ move }) => move === "prove");
      await Promise.all([liar.stop(), watcher.stop()]);
    });
});
