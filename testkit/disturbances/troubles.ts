import { setTimeout as sleep } from "node:timers/promises";
import { numberToHex, parseEther } from "viem";
import { stateOf } from "../../src/market/history.ts";
import { Side } from "../../src/chain/structs.ts";
import { heldBack, outage } from "./faults.ts";
import type { Fault } from "./line.ts";
import type { Disturbance, Telling } from "./playthrough.ts";

/** Long enough for everybody to have done what can be done. */
const PAUSE_MS = 60;
/** What is left of a clock when censorship ends. */
const LEFT_SECONDS = 60;

/** All honest parties meet a fault from now on. */
export const suffering =
  (fault: (party: number) => Fault): Disturbance =>
  (telling) =>
    telling.honest.forEach((party, k) => (telling.line(party).fault = fault(k)));

/** The processes of all honest parties are killed before they hear of the transaction; others start that know only the keys. */
export const killed: Disturbance = (telling) => telling.honest.forEach((party) => telling.restart(party));

/** Every honest party runs twice, with one key. */
export const doubled: Disturbance = (telling) => telling.honest.forEach((party) => telling.start(party));

/** No node answers the honest for a while. */
export const cutOff: Disturbance = (telling) => meanwhile(telling, outage, () => sleep(3 * PAUSE_MS));

/** Nothing that the honest send is included until their time has nearly run out. */
export const censored: Disturbance = (telling) => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  meanwhile(telling, heldBack(held), async () => {
    await sleep(PAUSE_MS);
    while (!(await letTimeRun(telling))) await sleep(PAUSE_MS / 4);
    release();
  });
};

/** The honest cannot pay for gas, for a while. */
export const penniless: Disturbance = async (telling) => {
  const set = (ether: string) =>
    Promise.all(
      telling.honest.map((party) =>
        telling.fork.chain.provider.request({
          method: "hardhat_setBalance",
          params: [telling.addressOf(party), numberToHex(parseEther(ether))],
        }),
      ),
    );
  await set("0");
  void sleep(3 * PAUSE_MS).then(() => telling.fork.alone(() => set("100")));
};

function meanwhile(telling: Telling, fault: Fault, until: () => Promise<void>): void {
  const lines = telling.honest.map((party) => telling.line(party));
  const before = lines.map((line) => line.fault);
  for (const line of lines) line.fault = fault;
  void until().then(() => lines.forEach((line, k) => (line.fault = before[k]!)));
}

/** Uses up nearly all of the time that the honest side has now. @returns Whether nothing happened in between. */
async function letTimeRun(telling: Telling): Promise<boolean> {
  const { job, now, blockNumber } = await telling.look();
  const isWorker = telling.honest.includes("worker");
  const side = isWorker ? Side.worker : Side.challenger;
  const claim = job?.claims.at(-1);
  const ends: number[] = [];
  if (claim === undefined) {
    if (isWorker && job?.holder !== undefined) ends.push(Number(job.holder.until));
  } else if (!claim.refuted && !claim.finalised) {
    const states = claim.games.filter(({ closed }) => closed === undefined).map(stateOf);
    for (const state of states.filter(({ turn }) => turn === side))
      ends.push(state.since + (isWorker ? state.workerSeconds : state.challengerSeconds));
    if (!isWorker && states.length === 0) ends.push(Number(claim.windowEnd));
  }
  const seconds = Math.min(...ends) - Number(now) - LEFT_SECONDS;
  return !Number.isFinite(seconds) || seconds <= 0 || telling.fork.advance(seconds, blockNumber);
}
