import { killedWatcher, killedWorker, type Survived } from "../../../testkit/processes/killing.ts";
import { Players } from "../../../testkit/players/players.ts";

/**
 * Kills the processes of a worker and of a watcher after every transaction that they send, and starts them again with
 * the key alone.
 * @returns Whether both end as they should
 */
export async function soakKills(): Promise<boolean> {
  const players = await Players.create();
  const tell = (name: string, { kills, calls }: Survived): void =>
    console.log(`${name}: killed after ${kills.join(", ")}; ${calls.length} transactions, none twice`);
  try {
    tell("worker", await killedWorker(players, ["*"], 1));
    tell("watcher", await killedWatcher(players, ["*"], 2));
    return true;
  } catch (error) {
    console.log(error);
    return false;
  } finally {
    await players.chain.close();
  }
}
