import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import {
  BaseError,
  HttpRequestError,
  RpcRequestError,
  encodeFunctionData,
  parseAbi,
  zeroAddress,
  type Transport,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { connect } from "../../src/chain/connect.ts";
import { ContractRevertError, NonceTakenError, TransactionDroppedError } from "../../src/chain/errors.ts";
import { TransactionRefusedError, TransactionTooLargeError } from "../../src/chain/errors.ts";
import { translateRefusal } from "../../src/chain/translateError.ts";
import { Nonces } from "../../src/chain/nonces.ts";
import { Sender } from "../../src/chain/sender.ts";
import { GWEI, MempoolNode } from "../../testkit/nodes/mempoolNode.ts";
import { readSigned } from "../../testkit/nodes/poolTransaction.ts";
import { rejection } from "../../testkit/rejection.ts";

const account = privateKeyToAccount(generatePrivateKey());
const PATIENCE = { pollingMs: 5, slowMs: 60, longestMs: 150 };
const REFUSED = new RpcRequestError({
  body: {},
  url: "http://node",
  error: { code: -32_000, message: "transaction type not supported" },
});
const FULL = { code: -32_000, message: "txpool is full" };
/** Of tests that wait for no end of it, and for no higher fee. */
const LONG = { pollingMs: 2, slowMs: 200_000, longestMs: 600_000 };
/** Of tests in which a node forgets: the call is tried again (slowMs / 9) before a pool is offered it again (/ 3). */
const FORGETFUL = { ...LONG, slowMs: 900 };
/** Of tests in which a higher fee is offered soon. */
const RAISING = { ...LONG, slowMs: 60 };
const abi = parseAbi(["function move(uint256 number)"]);
const move = (number: number) => ({ address: zeroAddress, abi, functionName: "move", args: [BigInt(number)] }) as const;

const senderOf = async ({ transport }: { transport: Transport }, patience = PATIENCE, by = account) =>
  new Sender(await connect({ transport }, 1), by, patience);

/** An account that signs the first transaction with nonce 0 only after `sign`, and never after `fail`. */
function slowSigner(): { signer: typeof account; signatures: () => number; sign: () => void; fail: () => void } {
  let sign!: () => void;
  let fail!: () => void;
  const gate = new Promise<void>((resolve, reject) => ([sign, fail] = [resolve, () => reject(new Error("no key"))]));
  let [first, signatures]: [Promise<void> | undefined, number] = [gate, 0];
  gate.catch(() => undefined);
  const signTransaction = async (tx: { nonce?: number }, ...others: unknown[]) => {
    signatures++;
    const wait = tx.nonce === 0 ? first : undefined;
    if (wait !== undefined) first = undefined;
    await wait;
    return account.signTransaction(tx as never, ...(others as []));
  };
  const signer = { ...account, signTransaction: signTransaction as never };
  return { signer, signatures: () => signatures, sign, fail };
}

/** Does what a round does: makes a move until the chain says that it is made. */
async function insist(sender: Sender, number: number, failures: string[] = []): Promise<string[]> {
  for (;;) {
    try {
      await sender.send(move(number));
      return failures;
    } catch (error) {
      if (error instanceof ContractRevertError) return failures;
      failures.push((error as { code: string }).code);
      await sleep(5);
    }
  }
}

describe("Sender", function () {
  let node: MempoolNode;
  let mining: NodeJS.Timeout | undefined;
  const startMining = (): void => void (mining = setInterval(() => node.mine(), 10));
  beforeEach(() => void (node = new MempoolNode()));
  afterEach(() => clearInterval(mining));

  /** Each move is in the chain once, and nothing else was paid for. */
  const made = () => {
    expect(node.mined.filter(({ reverted }) => reverted)).to.deep.equal([]);
    expect(node.pool.size).to.equal(0);
    return node.mined.length;
  };

  it("manySends_doNotWaitForEachOthersBlocks", async function () {
    const sender = await senderOf(node, LONG);
    const sends = [1, 2, 3].map((number) => sender.send(move(number)));
    while (node.pool.size < 3) await sleep(1);
    node.mine();
    const receipts = await Promise.all(sends);
    expect(new Set(receipts.map(({ transactionHash }) => transactionHash)).size).to.equal(3);
  });

  it("manyCallsThatWait_theLeastClockIsSentFirst_withoutAHoleInTheNonces_andEachOnce", async function () {
    const sender = await senderOf(node, LONG);
    // The first transactions wait for their answers: all that comes after must queue.
    let open!: () => void;
    node.gate = new Promise<void>((resolve) => (open = resolve));
    const begun = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => sender.send(move(number), 500 + number));
    const usual = [20, 21, 22].map((number) => sender.send(move(number)));
    const urgent = [
      [30, 900],
      [31, 700],
      [32, 800],
    ].map(([number, by]) => sender.send(move(number!), by));
    await sleep(5);
    open();
    startMining();
    await Promise.all([...begun, ...usual, ...urgent]);
    const place = (number: number): number =>
      node.mined.findIndex(({ data }) => data === encodeFunctionData(move(number)));
    const last = Math.max(...[31, 32, 30].map(place));
    expect([31, 32, 30].map(place)).to.deep.equal([31, 32, 30].map(place).sort((a, b) => a - b));
    // One call without a deadline may be on its way.
    expect([21, 22].every((number) => place(number) > last)).to.equal(true);
    expect(node.mined.map(({ nonce }) => nonce)).to.deep.equal([...Array(14).keys()]);
    expect(new Set(node.mined.map(({ data }) => data)).size).to.equal(14);
    expect(made()).to.equal(14);
  });

  it("callsThatCanNoMoreBeInTime_asTheChainsTimeSays_areSentAfterThoseThatCan", async function () {
    const sender = await senderOf(node, LONG);
    let open!: () => void;
    node.gate = new Promise<void>((resolve) => (open = resolve));
    const begun = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => sender.send(move(number), 500));
    const rest = [
      [30, 700],
      [31, 800],
    ].map(([number, by]) => sender.send(move(number!), by));
    sender.learnTime(700);
    open();
    startMining();
    await Promise.all([...begun, ...rest]);
    const [over, inTime] = [30, 31].map((number) =>
      node.mined.findIndex(({ data }) => data === encodeFunctionData(move(number))),
    );
    expect(inTime).to.be.lessThan(over!);
    expect(made()).to.equal(10);
  });

  it("callsThatWaitTogether_shareWhatTheyRead", async function () {
    // Long enough for all to be sent on a slow machine, and short enough to wait for the end.
    const sender = await senderOf(node, { ...LONG, pollingMs: 3_000 });
    const asked = node.calls.length;
    const sends = [1, 2, 3, 4, 5].map((number) => sender.send(move(number), number));
    while (node.pool.size < 5) await sleep(1);
    const methods = node.calls.slice(asked);
    const count = (method: string): number => methods.filter((one) => one === method).length;
    expect(count("eth_estimateGas")).to.equal(5);
    expect(count("eth_maxPriorityFeePerGas")).to.equal(1);
    expect(node.offers).to.equal(5);
    startMining();
    await Promise.all(sends);
  });

  it("refusedCallAmongOthers_leavesNoHole", async function () {
    const sender = await senderOf(node, LONG);
    let refusals = 1;
    node.refuses = () =>
      refusals-- > 0
        ? new RpcRequestError({ body: {}, url: "http://node", error: { code: -32_000, message: "oversized data" } })
        : undefined;
    const sends = [1, 2, 3].map((number) => sender.send(move(number), number).catch((error: Error) => error));
    startMining();
    const results = await Promise.all(sends);
    expect(results.filter((result) => result instanceof Error)).to.have.length(1);
    expect(made()).to.be.within(2, 3);
    expect(node.mined.map(({ nonce }) => nonce)).to.deep.equal([...node.mined.keys()]);
  });

  it("poolThatKeepsNothingBehindAGap_takesAllMovesInOneTry_thoughTheFirstIsSlow_andNoOther", async function () {
    node.limits = { ...node.limits, maxGap: 0n };
    const { signer, sign } = slowSigner();
    const sender = await senderOf(node, { ...LONG, slowMs: 6_000_000 }, signer);
    const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const sends = numbers.map((number) => sender.send(move(number), number));
    while (node.offers < 7) await sleep(1);
    expect(node.pool.size).to.equal(0);
    sign();
    startMining();
    await Promise.all(sends);
    expect(made()).to.equal(10);
  });

  it("poolThatKeepsNothingBehindAGap_andASlowTransactionThatFails_theNextTakesTheNonce", async function () {
    node.limits = { ...node.limits, maxGap: 0n };
    const { signer, fail } = slowSigner();
    const sender = await senderOf(node, { ...LONG, slowMs: 6_000_000 }, signer);
    const sends = [1, 2, 3, 4].map((number) => sender.send(move(number), number).catch((error: Error) => error));
    while (node.offers < 3) await sleep(1);
    fail();
    startMining();
    const failures = (await Promise.all(sends)).filter((result) => result instanceof Error);
    expect(failures.map(({ message }) => message)).to.deep.equal(["no key"]);
    expect(made()).to.equal(3);
  });

  it("holeInTheNonces_isFilledAgain_ifThePoolRefusesTheFiller", async function () {
    const { signer, fail } = slowSigner();
    const sender = await senderOf(node, LONG, signer);
    const failed = rejection(sender.send(move(1), 1));
    while (node.calls.filter((method) => method === "eth_estimateGas").length === 0) await sleep(1);
    const behind = [2, 3].map((number) => sender.send(move(number), number));
    while (node.pool.size < 2) await sleep(1);
    let refusals = 3;
    node.refuses = (tx) => (tx.data === "0x" && refusals-- > 0 ? REFUSED : undefined);
    fail();
    expect((await failed).message).to.equal("no key");
    startMining();
    await Promise.all(behind);
    expect(made()).to.equal(3);
    expect(refusals).to.be.lessThan(1);
  });

  it("outageOfAMinute_makesNoLongPauses_theMoveIsSentAgainSoonAfter", async function () {
    const sender = await senderOf(node, { ...LONG, pollingMs: 5 });
    let refusals = 40;
    node.refuses = () => (refusals-- > 0 ? new HttpRequestError({ url: "http://node", status: 503 }) : undefined);
    startMining();
    // If the pause doubled each time, the move would take years.
    await sender.send(move(1), 1);
    expect(made()).to.equal(1);
    expect(new Set(node.offered).size).to.equal(1);
  });

  it("tip_isAtFirstWhatAGameReturns_andTheUsualOneIfNoBlockTakesIt", async function () {
    const firstTip = async (baseFee: bigint): Promise<bigint> => {
      node.baseFee = baseFee;
      const sending = (await senderOf(node, LONG)).send(move(Number(baseFee)));
      while (node.pool.size === 0) await sleep(1);
      const { tip } = [...node.pool.values()][0]!;
      node.mine();
      await sending;
      return tip;
    };
    expect(await firstTip(8n * GWEI)).to.equal(GWEI);
    expect(await firstTip(2n * GWEI)).to.equal(GWEI / 2n);
    // Where a quarter is next to nothing.
    expect(await firstTip(10n)).to.equal(GWEI / 100n);
    node.baseFee = GWEI / 10n;
    node.minTip = GWEI;
    const before = node.offered.length;
    startMining();
    await (await senderOf(node, RAISING)).send(move(1));
    const offered = await Promise.all(node.offered.slice(before).map(readSigned));
    const tips = new Set(offered.map(({ tip }) => tip));
    expect([...tips].slice(0, 2)).to.deep.equal([GWEI / 40n, GWEI]);
    made();
  });

  it("tip_thatAPoolRefuses_isTheUsualOneAtOnce", async function () {
    node.baseFee = GWEI / 10n;
    node.limits = { ...node.limits, minTip: GWEI };
    startMining();
    await (await senderOf(node, LONG)).send(move(1));
    const { tip } = node.mined[0]!;
    expect(tip >= GWEI && tip * 8n <= GWEI * 9n + 8n, String(tip)).to.equal(true);
    expect(made()).to.equal(1);
  });

  it("transactionThatTheBaseFeeHasOutrun_isSentAgainWithTheSameNonce", async function () {
    const sender = await senderOf(node, LONG);
    const sending = sender.send(move(1));
    while (node.pool.size === 0) await sleep(1);
    const { hash } = node.pool.get(0)!;
    node.baseFee = 50n * GWEI;
    startMining();
    expect((await sending).transactionHash).not.to.equal(hash);
    expect(made()).to.equal(1);
  });

  it("inclusionWithheldForLong_theMoveTakesItsOwnPlaceEachTime_isMadeOnce_andBuysNobodyOff", async function () {
    const sender = new Sender(await connect(node, 1), account, { ...PATIENCE, slowMs: 20 });
    node.isCensored = true;
    startMining();
    const failures: string[][] = [[], []];
    const moves = failures.map((failed, k) => insist(sender, k + 1, failed));
    while (failures.some((failed) => failed.length < 3)) await sleep(5);
    expect([...node.pool.keys()]).to.deep.equal([0, 1]);
    for (const { tip } of node.pool.values()) expect(tip <= 5n * GWEI).to.equal(true);
    node.isCensored = false;
    expect((await Promise.all(moves))[0]).to.include("TRANSACTION_DROPPED");
    expect(made()).to.equal(2);
  });

  it("transactionOfAKilledProcess_isLeftForAWhile_thenReplaced_andNothingIsMadeTwice", async function () {
    const killed = await senderOf(node, { ...PATIENCE, longestMs: 0 });
    void killed.send(move(1)).catch(() => undefined);
    while (node.pool.size === 0) await sleep(1);
    // The base fee rises; the tip, that a replacement must raise too, stays what it was.
    node.baseFee = 3n * GWEI;
    startMining();
    const again = new Sender(await connect(node, 1), account, { ...PATIENCE, slowMs: 40 });
    expect(await rejection(again.send(move(1)))).to.be.instanceOf(NonceTakenError);
    await insist(again, 1);
    expect(made()).to.equal(1);
  });

  it("transactionOfAnEarlierProcess_isNotWaitedForAnew_ifAnotherNonceIsFreeMeanwhile", async function () {
    const count = () => Promise.resolve(0);
    const nonces = new Nonces({ getTransactionCount: count }, account.address, { ...LONG, slowMs: 40 });
    const [waits, later] = [
      { latest: 5, pending: 6 },
      { latest: 6, pending: 7 },
    ];
    expect(() => nonces.take("move", waits)).to.throw(NonceTakenError);
    await sleep(50);
    // The nonce is taken, the transaction with the nonce is refused, and a call between sees a free nonce.
    expect(nonces.take("move", waits)).to.equal(5);
    expect(nonces.free("move", waits)).to.equal(6);
    nonces.release(5);
    expect(nonces.free("move", waits)).to.equal(5);
    // A transaction that came later is waited for.
    expect(() => nonces.free("move", later)).to.throw(NonceTakenError);
  });

  it("transactionThatTheNodeHasForgotten_isSentAgain_theSameBytes", async function () {
    const sender = await senderOf(node, LONG);
    const sends = [1, 2].map((number) => insist(sender, number));
    while (node.pool.size < 2) await sleep(1);
    const { hash } = node.pool.get(0)!;
    node.forget(0);
    startMining();
    expect(await Promise.all(sends)).to.deep.equal([[], []]);
    expect(made()).to.equal(2);
    expect(node.mined[0]!.hash).to.equal(hash);
  });

  it("transactionThatTheNodeHasForgotten_andWouldFailByNow_isGivenUp_andCostsNothing", async function () {
    const sender = await senderOf(node, FORGETFUL);
    const sending = rejection(sender.send(move(1)));
    while (node.pool.size === 0) await sleep(1);
    // So long that the call is tried again before it is sent again.
    await sleep(FORGETFUL.slowMs / 6);
    node.forget(0);
    // Somebody else has made it meanwhile.
    node.madeByOthers.add(encodeFunctionData(move(1)));
    expect(await sending).to.be.instanceOf(TransactionDroppedError);
    startMining();
    await sender.send(move(2));
    expect(made()).to.equal(1);
  });

  it("transactionThatIsGivenUp_leavesNoGap_thoseBehindItAreMined_withoutAnotherSend", async function () {
    const sender = await senderOf(node, FORGETFUL);
    const first = rejection(sender.send(move(1)));
    const behind = [2, 3].map((number) => sender.send(move(number)));
    while (node.pool.size < 3) await sleep(1);
    // So long that the call is tried again before it is sent again.
    await sleep(FORGETFUL.slowMs / 6);
    node.forget(0);
    node.madeByOthers.add(encodeFunctionData(move(1)));
    startMining();
    expect(await first).to.be.instanceOf(TransactionDroppedError);
    await Promise.all(behind);
    expect(made()).to.equal(3);
    expect(node.mined[0]!.data).to.equal("0x");
  });

  it("transactionThatIsGivenUp_isNotReplacedByNothing_ifTheNextOneTakesItsPlace", async function () {
    const sender = await senderOf(node, FORGETFUL);
    const first = rejection(sender.send(move(1)));
    const behind = sender.send(move(2));
    while (node.pool.size < 2) await sleep(1);
    // So long that the call is tried again before it is sent again.
    await sleep(FORGETFUL.slowMs / 6);
    node.forget(0);
    node.madeByOthers.add(encodeFunctionData(move(1)));
    const next = first.then(() => sender.send(move(3)));
    expect(await first).to.be.instanceOf(TransactionDroppedError);
    startMining();
    await Promise.all([behind, next]);
    expect(made()).to.be.within(2, 3);
    expect(new Set(node.mined.map(({ data }) => data)).size).to.equal(node.mined.length);
  });

  for (const [what, isMade, mined] of [
    ["areSentAgain", false, [1, 2, 3]],
    ["areReplacedByNothing_ifTheyWouldFailByNow", true, [undefined, undefined, 3]],
  ] as const)
    it(`transactionsThatAReorganisationTookBack_${what}_andThoseBehindThemAreMined`, async function () {
      const sender = await senderOf(node, FORGETFUL);
      const taken = [1, 2].map((number) => sender.send(move(number)));
      while (node.pool.size < 2) await sleep(1);
      node.mine();
      await Promise.all(taken);
      const behind = sender.send(move(3));
      while (node.pool.size < 1) await sleep(1);
      node.reorganise(2);
      if (isMade) for (const number of [1, 2]) node.madeByOthers.add(encodeFunctionData(move(number)));
      startMining();
      await behind;
      expect(made()).to.equal(3);
      const expected = mined.map((number) => (number === undefined ? "0x" : encodeFunctionData(move(number))));
      expect(node.mined.map(({ data }) => data)).to.deep.equal(expected);
    });

  it("transactionThatAReorganisationTookBack_isMadeAnewInItsOwnPlace_ifItIsSentAgain", async function () {
    const sender = await senderOf(node, LONG);
    const taken = sender.send(move(1));
    while (node.pool.size < 1) await sleep(1);
    node.mine();
    await taken;
    const behind = sender.send(move(2));
    while (node.pool.size < 1) await sleep(1);
    node.reorganise(1);
    startMining();
    await Promise.all([behind, sender.send(move(1))]);
    expect(made()).to.equal(2);
  });

  for (const [words, outcome] of Object.entries({
    "HTTP 503": { fault: () => new HttpRequestError({ url: "http://node", status: 503 }) },
    "a full pool": { fault: () => new RpcRequestError({ body: {}, url: "http://node", error: FULL }) },
  }))
    it(`${words}: transactionThatIsNotTaken_isSentAgain_theSameBytes`, async function () {
      startMining();
      let refusals = 5;
      node.refuses = () => (refusals-- > 0 ? outcome.fault() : undefined);
      expect(await insist(await senderOf(node, LONG), 1)).to.deep.equal([]);
      expect(made()).to.equal(1);
      expect(new Set(node.offered).size).to.equal(1);
      expect(node.offered).to.have.length(6);
    });

  it("answerThatIsLost_isNoReasonToSendTheMoveAgain", async function () {
    const sender = await senderOf(node, LONG);
    node.losesAnswers = true;
    const sending = sender.send(move(1));
    while (node.pool.size === 0) await sleep(1);
    node.losesAnswers = false;
    startMining();
    await sending;
    expect(made()).to.equal(1);
  });

  it("fees_thatAnotherTransactionOfTheAccountOutbids_areRaisedNoFurtherThanFourfold", async function () {
    const sender = await senderOf(node);
    node.isCensored = true;
    const rich = new Sender(await connect(node, 1), account, PATIENCE);
    node.baseFee = 100n * GWEI;
    void rich.send(move(1)).catch(() => undefined);
    while (node.pool.size === 0) await sleep(1);
    node.baseFee = GWEI;
    const { maxFee } = node.pool.get(0)!;
    const second = insist(sender, 2);
    await sleep(4 * PATIENCE.slowMs);
    expect(node.pool.get(0)!.maxFee <= (maxFee * 3n) / 2n).to.equal(true);
    node.isCensored = false;
    startMining();
    await second;
    expect(made()).to.be.within(1, 2);
  });

  it("transactionThatIsTooLarge_isRefusedWithItsSizeAndTheLimit_andNotSignedAgainSoon", async function () {
    node.limits = { ...node.limits, maxBytes: 100 };
    const refused = async (sender: Sender, number: number): Promise<void> => {
      const error = await rejection(sender.send(move(number)));
      expect(error).to.be.instanceOf(TransactionTooLargeError);
      expect(error).to.include({ functionName: "move", limit: 100, retryable: false });
      expect(error.message).to.match(/move: a transaction of 1\d\d bytes .* the 100 bytes .* higher limit/);
    };
    const { signer, signatures, sign } = slowSigner();
    sign();
    const patient = await senderOf(node, LONG, signer);
    for (const number of [1, 2]) await refused(patient, number);
    expect(node.offers).to.equal(1);
    expect(signatures()).to.equal(1);
    // After the time, another node may be there.
    const hasty = await senderOf(node, { ...PATIENCE, longestMs: 1 });
    for (const number of [1, 2]) {
      await refused(hasty, number);
      await sleep(2);
    }
    expect(node.offers).to.equal(3);
    node.limits = { ...node.limits, maxBytes: 1_000 };
    startMining();
    await insist(hasty, 1);
    expect(made()).to.equal(1);
  });

  it("limitInOtherWords_isNoNumberOfBytes", function () {
    const said = (words: string): number | undefined => {
      const refusal = translateRefusal(new BaseError("refused", { details: words }), "move", 140_000);
      expect(refusal, words).to.be.instanceOf(TransactionTooLargeError);
      return (refusal as TransactionTooLargeError).limit;
    };
    expect(said("oversized data: transaction size 140000, limit 131072")).to.equal(131_072);
    for (const words of [
      "transaction too large: 140 KB, limit 128 KB",
      "transaction size exceeds limit: 128kB",
      "transaction size exceeds limit 131,072",
      "transaction is too big",
    ])
      expect(said(words), words).to.equal(undefined);
  });

  it("transactionThatAPoolRefusesOtherwise_isOneOfRefutesErrors_withTheNodesWords", async function () {
    node.limits = { ...node.limits, blockGas: 50_000n };
    const error = await rejection((await senderOf(node)).send(move(1)));
    expect(error).to.be.instanceOf(TransactionRefusedError);
    expect(error.message).to.contain("move: the node refuses the transaction (exceeds block gas limit)");
    expect(node.offers).to.equal(1);
  });
});
