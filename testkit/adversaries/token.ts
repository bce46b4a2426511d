import {
  encodeFunctionData,
  erc20Abi,
  getAbiItem,
  parseAbi,
  parseEther,
  parseEventLogs,
  toFunctionSelector,
} from "viem";
import type { Address, Hex } from "viem";
import { disputeGameAbi } from "../../src/chain/abi/disputeGame.ts";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { stakeVaultAbi } from "../../src/chain/abi/stakeVault.ts";
import { packState } from "../../src/chain/market/state.ts";
import { programFacts, type Execution } from "../../src/dispute/run/execution.ts";
import { submissionOf, workerMove } from "../../src/dispute/workerMove.ts";
import { stateOf, type ClaimRecord, type GameRecord } from "../../src/chain/market/history.ts";
import { claimContentOf, claimKeyOf } from "../../src/chain/market/ids.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import type { Session } from "../../src/chain/market/session.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import { ONE_ITEM } from "../../src/program/run.ts";
import { Side } from "../../src/chain/structs.ts";
import { completeTerms } from "../../src/parties/requester/postJob.ts";
import { deliveryOf } from "../../src/parties/worker/settlement.ts";
import { challengerMove } from "../../src/dispute/challengerMove.ts";
import { reference } from "../players/players.ts";
import { submittedList } from "../../src/dispute/disputed.ts";
import { rootPick } from "../soak/challengers.ts";
import { Adversary } from "./adversary.ts";
import type { Verdict } from "./verdict.ts";
import type { Arena, Posted } from "./arena.ts";
import { lyingSums, postSums } from "./workers.ts";

/** contracts/test/TestTokens.sol. */
const tokenAbi = parseAbi([
  "struct Call { address to; bytes data; }",
  "function arm(Call[] calls)",
  "event Tried(address indexed to, bytes4 indexed selector, bool succeeded)",
]);

const LIE = { step: 4, element: 1 };
const AMOUNT = parseEther("0.5");

/** Calls of the protocol's contracts, with the arguments that are most likely to succeed in the current state. */
type Calls = { to: Address; data: Hex }[];

/** The stake asset calls every function of vault, market and game from inside each transfer, while a lie is refuted. */
class ReentrantToken extends Adversary {
  readonly name = "re-entrant token, during deposits and withdrawals at each stage of a dispute";
  readonly expected = "refuted by a proof";
  readonly #tried = new Map<Hex, boolean>();

  async attack(arena: Arena): Promise<Verdict> {
    const mallory = await arena.players.chain.newSession(parseEther("10"));
    const token = mallory.deployment.asset;
    // The token has money everywhere: no call fails for lack of funds.
    await deposit(mallory, parseEther("3"), token);
    const transfer = {
      address: token,
      abi: erc20Abi,
      functionName: "transfer",
      args: [token, parseEther("2")],
    } as const;
    await mallory.sender.send(transfer);
    const before = await this.#league(mallory);
    const posted = await postSums(arena);
    const lie = await lyingSums(arena, posted);
    const key = await arena.players.workerKey();
    await this.#stir(arena, mallory, posted, lie);
    const liar = await arena.players.startWorker(key, posted.program, reference(LIE));
    const claim = await arena.claimOn(posted);
    await this.#stir(arena, mallory, posted, lie, claim);
    const game = await arena.gameOn(claim, arena.watcherKey);
    for (let stirred = 0; game.closed === undefined;) {
      if (game.moves.length === stirred) {
        await arena.until("a move", () => game.closed ?? (game.moves.length > stirred || undefined));
        continue;
      }
      stirred = game.moves.length;
      await this.#stir(arena, mallory, posted, lie, claim, game);
    }
    const verdict = await arena.death(posted);
    await this.#stir(arena, mallory, posted, lie, claim, game);
    await liar.stop();
    await this.#mustHold(mallory, before);
    return verdict;
  }

  /** Arms the token, and has it called by a deposit and a withdrawal. */
  async #stir(arena: Arena, mallory: Session, posted: Posted, lie: Execution, claim?: ClaimRecord, game?: GameRecord) {
    const { deployment, sender, publicClient } = mallory;
    const own = arena.runOf(await arena.execution(posted));
    const wrong = arena.runOf(lie);
    const calls = [
      ...vaultCalls(mallory, arena.players.addressOf(arena.watcherKey)),
      ...marketCalls(mallory, posted, wrong, claim),
      ...(claim === undefined ? [] : gameCalls(mallory, own, wrong, claim, game)),
    ];
    const fromBlock = await publicClient.getBlockNumber();
    // The token stores the calls. All calls at once would exceed a transaction's gas limit.
    const half = Math.ceil(calls.length / 2);
    for (const part of [calls.slice(0, half), calls.slice(half)]) {
      await sender.send({ address: deployment.asset, abi: tokenAbi, functionName: "arm", args: [part] });
      await deposit(mallory, AMOUNT);
      await mallory.vault.withdraw(AMOUNT / 2n, sender.address);
    }
    // Honest transfers work as usual. The attack consists only of the token's calls during transfers.
    await sender.send({ address: deployment.asset, abi: tokenAbi, functionName: "arm", args: [[]] });
    const logs = await publicClient.getLogs({ address: deployment.asset, fromBlock });
    for (const { args } of parseEventLogs({ abi: tokenAbi, logs })) {
      this.#tried.set(args.selector, args.succeeded || (this.#tried.get(args.selector) ?? false));
    }
  }

  /** The vault owes no more than it holds, the attackers have no more than before, and every function was tried. */
  async #mustHold(mallory: Session, before: bigint): Promise<void> {
    const { publicClient, deployment } = mallory;
    const { vault, asset } = deployment;
    const after = await this.#league(mallory);
    if (after > before) throw new Error(`the token's owners gained ${after - before}`);
    const held = await publicClient.readContract({
      address: asset,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [vault],
    });
    const owed = await owedBy(mallory);
    if (owed !== held) throw new Error(`the vault holds ${held} and owes ${owed}`);
    const abis = [stakeVaultAbi, jobMarketAbi, disputeGameAbi];
    const functions = abis.flatMap((abi) =>
      abi.filter((item) => item.type === "function" && item.stateMutability === "nonpayable"),
    );
    const untried = functions.filter((item) => item.type === "function" && !this.#tried.has(toFunctionSelector(item)));
    if (untried.length > 0)
      throw new Error(`not tried: ${untried.map((item) => ("name" in item ? item.name : "")).join()}`);
    for (const name of ["deposit", "withdraw", "take", "give", "lock", "unlock", "slash"] as const) {
      if (this.#tried.get(toFunctionSelector(getAbiItem({ abi: stakeVaultAbi, name }))))
        throw new Error(`${name} was re-entered`);
    }
  }

  /** Returns the funds of mallory and the token, in tokens and in the vault. */
  async #league(mallory: Session): Promise<bigint> {
    const { asset } = mallory.deployment;
    let sum = 0n;
    for (const owner of [asset, mallory.sender.address]) {
      const { credit, staked, withdrawing } = await mallory.vault.accountOf(owner);
      const call = { address: asset, abi: erc20Abi, functionName: "balanceOf", args: [owner] } as const;
      sum += credit + staked + withdrawing + (await mallory.publicClient.readContract(call));
    }
    return sum;
  }
}

/** Returns the vault's total debt to the market and to all accounts in the vault's events. */
async function owedBy(session: Session): Promise<bigint> {
  const { publicClient, deployment } = session;
  const vault = { address: deployment.vault, abi: stakeVaultAbi } as const;
  const logs = await publicClient.getLogs({ address: deployment.vault, fromBlock: 0n });
  const owners = new Set<Address>();
  for (const { args } of parseEventLogs({ abi: stakeVaultAbi, logs })) if ("account" in args) owners.add(args.account);
  let owed = await publicClient.readContract({ ...vault, functionName: "custody" });
  for (const owner of owners) {
    const { credit, staked, withdrawing } = await session.vault.accountOf(owner);
    owed += credit + staked + withdrawing;
  }
  return owed;
}

function vaultCalls({ deployment, sender }: Session, victim: Address): Calls {
  const { vault, asset } = deployment;
  const at = (data: Hex) => ({ to: vault, data });
  const encode = encodeFunctionData;
  const abi = stakeVaultAbi;
  return [
    { to: asset, data: encode({ abi: erc20Abi, functionName: "approve", args: [vault, 2n ** 255n] }) },
    at(encode({ abi, functionName: "deposit", args: [asset, AMOUNT] })),
    at(encode({ abi, functionName: "withdraw", args: [AMOUNT, sender.address] })),
    at(encode({ abi, functionName: "stake", args: [1n] })),
    at(encode({ abi, functionName: "requestWithdraw", args: [1n] })),
    at(encode({ abi, functionName: "unstake", args: [] })),
    ...(["take", "give", "lock", "unlock"] as const).map((functionName) =>
      at(encode({ abi, functionName, args: [functionName === "give" ? asset : victim, 1n] })),
    ),
    at(encode({ abi, functionName: "slash", args: [victim, 1n, true] })),
  ];
}

function marketCalls({ deployment, sender }: Session, posted: Posted, lie: RunExecution, claim?: ClaimRecord): Calls {
  const { market, parameters } = deployment;
  const { record, inputs, program } = posted;
  const { job, id } = record;
  const at = (data: Hex) => ({ to: market, data });
  const encode = encodeFunctionData;
  const abi = jobMarketAbi;
  const own = claim?.claim ?? { job, worker: sender.address, root: lie.root, collateral: parameters.collateral };
  const nodes = submissionOf(lie.claimed, parameters.arityBits, lie.form);
  const input = toHex(inputs[0]!);
  const facts = programFacts(program.commitment);
  const request = {
    program: facts,
    inputRoots: record.inputRoots,
    inputs: [input],
    ...ONE_ITEM,
    ...{ fee: 1n, window: job.window, claimSeconds: job.claimSeconds, deadline: job.deadline, callbackGas: 0 },
    ...{
      maxOutputBytes: 4_096,
      rootOnly: false,
      terms: [],
      answer: lie.form === "answer",
      salt: `0x${"33".repeat(32)}` as const,
    },
  };
  const [inputRoot] = record.inputRoots;
  const terms = completeTerms({ collateral: parameters.collateral });
  const words = [0n, 0n, 0n, 0n, 0n, 0n, 0n, 0n] as const;
  const proof = { key: [], proof: words, program: facts, inputs: [input], outputs: [] };
  const part = { input: 0, part: 0, data: input, siblings: [], inputRoot: inputRoot!, inputSiblings: [] };
  return [
    at(encode({ abi, functionName: "post", args: [request] })),
    at(encode({ abi, functionName: "publishInput", args: [job, facts, part] })),
    at(encode({ abi, functionName: "claim", args: [job] })),
    at(encode({ abi, functionName: "submit", args: [job, nodes] })),
    at(encode({ abi, functionName: "finalise", args: [own] })),
    at(encode({ abi, functionName: "deliver", args: [own, deliveryOf(lie, 0)] })),
    at(encode({ abi, functionName: "accept", args: [own] })),
    at(encode({ abi, functionName: "reclaim", args: [own] })),
    at(encode({ abi, functionName: "expire", args: [job] })),
    at(encode({ abi, functionName: "cancel", args: [job] })),
    at(encode({ abi, functionName: "gameOpened", args: [id, id, sender.address, 1n] })),
    at(encode({ abi, functionName: "pay", args: [sender.address, 1n] })),
    at(encode({ abi, functionName: "refuted", args: [claimKeyOf(id, own), id] })),
    at(encode({ abi, functionName: "claimOnTerms", args: [job, terms] })),
    at(encode({ abi, functionName: "submitOnTerms", args: [job, terms, nodes] })),
    at(encode({ abi, functionName: "claimAndSubmit", args: [job, terms, nodes] })),
    at(encode({ abi, functionName: "seal", args: [job, terms, id] })),
    at(encode({ abi, functionName: "openSeal", args: [job, terms, sender.address, id, nodes] })),
    at(encode({ abi, functionName: "breakSeal", args: [job, terms, sender.address, id] })),
    at(encode({ abi, functionName: "expireOnTerms", args: [job, terms] })),
    at(encode({ abi, functionName: "acceptEarly", args: [own, terms] })),
    at(encode({ abi, functionName: "claimAndProve", args: [job, terms, nodes, proof] })),
    at(encode({ abi, functionName: "finaliseByProof", args: [own, terms, proof] })),
  ];
}

/** Returns each move of the game in the current state, by any account. */
function gameCalls(
  { deployment }: Session,
  own: RunExecution,
  lie: RunExecution,
  record: ClaimRecord,
  game?: GameRecord,
): Calls {
  const { arityBits } = deployment.parameters;
  const at = (data: Hex) => ({ to: deployment.game, data });
  const encode = encodeFunctionData;
  const abi = disputeGameAbi;
  const key = claimKeyOf(record.jobId, record.claim);
  const root = rootPick(own, submittedList(own, record.nodes));
  const calls = [
    at(encode({ abi, functionName: "open", args: [record.claim, 0, root] })),
    at(encode({ abi, functionName: "collect", args: [key] })),
  ];
  if (game === undefined) return calls;
  const packed = packState(stateOf(game));
  const answer = workerMove(lie, { ...stateOf(game), turn: Side.worker }, arityBits, 0n);
  const next = challengerMove(own, record.nodes, game.moves, arityBits, 0n);
  const data = answer.kind === "reveal" ? answer.data : "0x00";
  const [children, siblings] = answer.kind === "expand" ? [answer.children, answer.siblings] : (["0x00", []] as const);
  calls.push(
    at(encode({ abi, functionName: "reveal", args: [packed, data] })),
    at(encode({ abi, functionName: "expand", args: [packed, claimContentOf(key), children, siblings] })),
    at(encode({ abi, functionName: "pick", args: [packed, next.kind === "pick" ? next.pick : root] })),
    at(encode({ abi, functionName: "timeout", args: [packed, key] })),
    at(encode({ abi, functionName: "concede", args: [packed, key] })),
    at(encode({ abi, functionName: "settle", args: [packed] })),
  );
  if (next.kind === "prove")
    calls.push(at(encode({ abi, functionName: "prove", args: [packed, record.claim, next.proof] })));
  return calls;
}

const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;

/** One for each form of claims. */
export const REENTRANT_TOKEN: readonly Adversary[] = [new ReentrantToken(), new ReentrantToken()];
