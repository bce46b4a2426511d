import { encodeFunctionData, parseAbi, parseEther, type Hex } from "viem";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { JobMarket } from "../../src/chain/clients/jobMarket.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import type { Session } from "../../src/chain/market/session.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { postJob } from "../../src/parties/requester/postJob.ts";
import { first, reference } from "../players/players.ts";
import { sumsInput } from "../programs/randomSums.ts";
import { Prng } from "../random/prng.ts";
import { Adversary } from "./adversary.ts";
import type { Arena, Posted } from "./arena.ts";

/** contracts/test/Requesters.sol. */
const BEHAVIOURS = {
  reverts: 1,
  "burns all its gas": 2,
  "returns a bomb of data": 3,
  "re-enters the market": 4,
} as const;
const scriptedAbi = parseAbi(["function setBehaviour(uint8 behaviour)", "function setReentry(bytes call)"]);

/** A requester whose contract handles results badly. The real worker serves the job and is paid once. */
class HostileCallback extends Adversary {
  readonly name: string;
  readonly expected = "finalised";

  readonly behaviour: keyof typeof BEHAVIOURS;

  constructor(behaviour: keyof typeof BEHAVIOURS) {
    super();
    this.behaviour = behaviour;
    this.name = `callback that ${behaviour}`;
  }

  async attack(arena: Arena) {
    const { chain } = arena.players;
    const requester = await chain.newSession(parseEther("1"));
    const contract = await chain.deploy("ScriptedRequester", [chain.market]);
    await deposit(requester, parseEther("1"), contract);
    const scripted = { address: contract, abi: scriptedAbi } as const;
    await requester.sender.send({ ...scripted, functionName: "setBehaviour", args: [BEHAVIOURS[this.behaviour]] });
    const posted = await this.#post(arena, requester, contract);
    const key = await arena.players.workerKey();
    const before = await arena.wealth(key);
    const worker = await arena.players.startWorker(key, posted.program, reference());
    const { claim, id } = await arena.claimOn(posted);
    // Asks for the fee a second time, from within the callback.
    const again = encodeFunctionData({ abi: jobMarketAbi, functionName: "accept", args: [claim] });
    await requester.sender.send({ ...scripted, functionName: "setReentry", args: [again] });
    const verdict = await arena.survival(posted);
    await first(worker, "delivered", (e) => e.claimId === id);
    await arena.until("the fee", ({ claims }) => claims.get(id)?.paid || undefined);
    await worker.stop();
    const gain = (await arena.wealth(key)) - before;
    if (gain !== posted.record.job.fee) throw new Error(`the worker got ${gain} of a fee of ${posted.record.job.fee}`);
    return verdict;
  }

  async #post(arena: Arena, requester: Session, contract: Hex): Promise<Posted> {
    const program = arena.chainOfSums;
    const inputs = [sumsInput(new Prng(BEHAVIOURS[this.behaviour]), program.model)];
    // The contract passes the post on to the market, and is the requester.
    const sender = { address: contract } as Session["sender"];
    const through = { ...requester, sender, market: new JobMarket(contract, requester) };
    const deadline = (await arena.now()) + 86_400n;
    const terms = { fee: parseEther("0.1"), window: 3_600, claimSeconds: 1_800, deadline, callbackGas: 300_000 };
    const answer = arena.form === "answer";
    const { jobId } = await postJob(through, describeProgram(program), inputs, { ...terms, answer });
    return { requester, record: (await arena.history()).jobs.get(jobId)!, program, inputs };
  }
}

export const HOSTILE_CALLBACKS: readonly Adversary[] = (Object.keys(BEHAVIOURS) as (keyof typeof BEHAVIOURS)[]).map(
  (behaviour) => new HostileCallback(behaviour),
);
