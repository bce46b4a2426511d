import { KILLED_JOBS } from "../../../testkit/processes/killedJobs.ts";
import { killedWatcher, killedWorker, type Survived } from "../../../testkit/processes/killing.ts";
import { Players } from "../../../testkit/players/players.ts";

/**
 * Kills a worker's and a watcher's process after every transaction sent, and starts both again with the key alone: with
 * single-item and multi-item jobs, about traces and about answers.
 * @returns Whether all end correctly
 */
export async function soakKills(): Promise<boolean> {
  const players = await Players.create();
  const tell = (name: string, { kills, calls }: Survived): void =>
    console.log(`${name}: killed after ${kills.join(", ")}; ${calls.length} transactions, none twice`);
  try {
    let seed = 1;
    for (const make of Object.values(KILLED_JOBS)) {
      const [one, other] = [make(seed++), make(seed++)];
      tell(`worker, ${one.name}`, await killedWorker(players, ["*"], one));
      tell(`watcher, ${other.name}`, await killedWatcher(players, ["*"], other));
    }
    return true;
  } catch (error) {
    console.log(error);
    return false;
  } finally {
    await players.chain.close();
  }
}
