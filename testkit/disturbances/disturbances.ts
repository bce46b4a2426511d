import { setTimeout as sleep } from "node:timers/promises";
import { numberToHex, parseEther } from "viem";
import { stateOf } from "../../src/chain/market/history.ts";
import { Side } from "../../src/chain/structs.ts";
import { heldBack, outage } from "./faults.ts";
import type { Fault } from "./rpcLine.ts";
import type { Disturbance, Playthrough } from "./playthrough.ts";

/** Long enough for every party to make all possible moves. */
const PAUSE_MS = 60;
/** The seconds left on a clock when censorship ends. */
const LEFT_SECONDS = 60;

/** Puts a fault into all honest parties' nodes from now on. */
export const withNodeFault =
  (fault: (party: number) => Fault): Disturbance =>
  (playthrough) =>
    playthrough.honest.forEach((party, k) => (playthrough.line(party).fault = fault(k)));

/**
 * The processes of all honest parties are killed before they see the transaction. New ones start, which have only the
 * keys.
 */
export const killed: Disturbance = (playthrough) => playthrough.honest.forEach((party) => playthrough.restart(party));

/** A second process of every honest party starts, with the same key. */
export const doubled: Disturbance = (playthrough) => playthrough.honest.forEach((party) => playthrough.start(party));

/** No node answers honest parties for a while. */
export const cutOff: Disturbance = (playthrough) => meanwhile(playthrough, outage, () => sleep(3 * PAUSE_MS));

/** No transaction of honest parties is included until their clock has nearly run out. */
export const censored: Disturbance = (playthrough) => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  meanwhile(playthrough, heldBack(held), async () => {
    await sleep(PAUSE_MS);
    while (!(await letTimeRun(playthrough))) await sleep(PAUSE_MS / 4);
    release();
  });
};

/**
 * Honest parties cannot pay for gas for a while: the parties with a move due, until a party has reported the shortage.
 */
export const withoutGasMoney: Disturbance = async (playthrough) => {
  const set = (ether: string) =>
    Promise.all(
      playthrough.honest.map((party) =>
        playthrough.fork.chain.provider.request({
          method: "hardhat_setBalance",
          params: [playthrough.addressOf(party), numberToHex(parseEther(ether))],
        }),
      ),
    );
  await set("0");
  void (async () => {
    await sleep(3 * PAUSE_MS);
    // An honest worker may have no move to make.
    while (!playthrough.honest.includes("worker") && !playthrough.isShortOfGasMoney()) await sleep(PAUSE_MS);
    await playthrough.fork.alone(() => set("100"));
  })();
};

function meanwhile(playthrough: Playthrough, fault: Fault, until: () => Promise<void>): void {
  const lines = playthrough.honest.map((party) => playthrough.line(party));
  const before = lines.map((line) => line.fault);
  for (const line of lines) line.fault = fault;
  void until().then(() => lines.forEach((line, k) => (line.fault = before[k]!)));
}

/** Lets nearly all of the honest side's time pass. @returns Whether no transaction was included meanwhile. */
async function letTimeRun(playthrough: Playthrough): Promise<boolean> {
  const { job, now, blockNumber } = await playthrough.look();
  const isWorker = playthrough.honest.includes("worker");
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
  return !Number.isFinite(seconds) || seconds <= 0 || playthrough.fork.advance(seconds, blockNumber);
}
