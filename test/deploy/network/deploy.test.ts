import { expect } from "chai";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTransport, http, parseAbi, type Chain, type Hex, type PublicClient, type Transport } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { connect } from "../../../src/chain/connect.ts";
import type { Parameters } from "../../../src/chain/structs.ts";
import {
  deployContracts,
  deployWrappedEther,
  firstBlockOf,
  type MarketPlan,
} from "../../../src/deploy/network/deployContracts.ts";
import { checkNetwork } from "../../../src/deploy/network/networkChecks.ts";
import { checkDevices, checkParameters } from "../../../src/deploy/network/parameterChecks.ts";
import { NETWORK_KINDS, parametersOfKind, readParameters } from "../../../src/deploy/network/parameters.ts";
import { verifyDeployment } from "../../../src/deploy/network/verifyDeployment.ts";
import { writeAddressFile } from "../../../src/deploy/network/writeAddressFile.ts";
import { CHAIN_ID, developmentAccount } from "../../../src/deploy/devnet/accounts.ts";
import { Anvil, anvilBinary } from "../../../src/deploy/devnet/anvil.ts";
import { readAddressFile } from "../../../src/chain/market/readAddressFile.ts";
import { rejection } from "../../../testkit/rejection.ts";

const account = developmentAccount(0);
const FAST = { confirmations: 1, pollingMs: 50 };
const l1 = readParameters(parametersOfKind("l1"));

/** A parameter that does not hold, and what is said of it. */
const REFUSED: readonly [RegExp, Partial<Parameters>][] = [
  [/arityBits 7/, { arityBits: 7 }],
  [/rate 0/, { rate: 0n }],
  [/maxWork 0/, { maxWork: 0n }],
  [/priceCap 0/, { priceCap: 0n }],
  [/window of 11 s.*at least 12/, { baseWindow: 11 }],
  [/window of 11799 s.*at least 11800/, { maxWindow: 11_799 }],
  [/baseClock 71 s.*at least 72/, { baseClock: 71 }],
  [/duration/, { rate: 1n }],
  [/withdrawalDelay 133600 s.*133600/, { withdrawalDelay: 133_600 }],
  [/maxStepGas 12000001/, { maxStepGas: 12_000_001 }],
  [/maxStepBytes 89999/, { maxStepBytes: 89_999 }],
  [/bondGas 1219299.*1219300/, { bondGas: 1_219_299 }],
  [/collateral 1:/, { collateral: 1n }],
  [/penaltyBps 10001/, { penaltyBps: 10_001 }],
  [/penalty of/, { penaltyBps: 27 }],
];

describe("refute deploy", function () {
  this.timeout(120_000);
  let anvil: Anvil;
  let publicClient: PublicClient<Transport, Chain>;
  let asset: `0x${string}`;
  const folder = mkdtempSync(join(tmpdir(), "refute-deploy-"));
  const plan = (): MarketPlan => ({ parameters: l1, asset, manufacturers: [`0x${"34".repeat(32)}`] });
  const deployer = (journal: string) => ({ publicClient, account, journal: join(folder, journal), ...FAST });

  before(async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") {
      console.log(`      skipped: ${binary.missing}`);
      return this.skip();
    }
    anvil = await Anvil.start();
    publicClient = await connect({ rpcUrls: [anvil.url] }, CHAIN_ID);
    asset = await deployWrappedEther({ publicClient, account, ...FAST });
    // As any network does, the chain has some blocks.
    await anvil.request("anvil_mine", ["0x2"]);
  });
  after(async () => {
    await anvil?.close();
    rmSync(folder, { recursive: true });
  });

  it("everyKindOfNetwork_hasAFile_whoseArithmeticHolds", async () => {
    const files = readdirSync("ignition/parameters").map((name) => name.replace(".json5", ""));
    expect([...NETWORK_KINDS].sort()).to.deep.equal(files.sort());
    for (const kind of NETWORK_KINDS)
      await checkParameters(publicClient, account.address, readParameters(parametersOfKind(kind)));
  });

  for (const [words, changes] of REFUSED)
    it(`parameters_${Object.entries(changes).join("_")}_refusedByName_beforeAnythingIsSent`, async () => {
      const error = await rejection(checkParameters(publicClient, account.address, { ...l1, ...changes }));
      expect(error.message).to.match(words);
    });

  it("manufacturersGridAndLifetime_refusedByName_beforeAnythingIsSent", async () => {
    const check = (changes: Partial<MarketPlan>) =>
      checkDevices(publicClient, account.address, { ...plan(), ...changes });
    await check({});
    const [maker] = plan().manufacturers;
    const refused: [Partial<MarketPlan>, RegExp][] = [
      [{ manufacturers: [] }, /no manufacturers/],
      [{ manufacturers: [maker!, maker!] }, /0x3434.* is named twice/],
      [{ manufacturers: [`0x${"00".repeat(32)}`] }, /id is zero/],
      [{ manufacturers: Array<Hex>(33).fill(maker!) }, /33 manufacturers: expected 1 to 32/],
      [{ gridBlocks: 129 }, /gridBlocks 129: expected 1 to 128/],
      [{ reportLifetime: 0 }, /reportLifetime 0 s/],
    ];
    for (const [changes, words] of refused) expect((await rejection(check(changes))).message).to.match(words);
  });

  it("parameterFile_withAnUnknownOrMissingName_orNoNumber_refused", () => {
    const refusalOf = (text: string): string => {
      const path = join(folder, "bad.json5");
      writeFileSync(path, text);
      try {
        readParameters(path);
      } catch (error) {
        return (error as Error).message;
      }
      return "taken";
    };
    const text = readFileSync(parametersOfKind("l1"), "utf8");
    expect(refusalOf(text)).to.equal("taken");
    expect(refusalOf(text.replace("arityBits: 4", 'arityBits: "four"'))).to.match(/arityBits: expected a whole number/);
    expect(refusalOf(text.replace("arityBits: 4,", ""))).to.match(/arityBits/);
    expect(refusalOf(text.replace("arityBits: 4,", 'arityBits: 4, asset: "0x1",'))).to.match(/names asset.*flags/);
    expect(refusalOf("{")).to.match(/is not JSON5/);
  });

  it("network_thatIsFit_isFoundSo_andTheGasIsAnUpperBound", async () => {
    const facts = await checkNetwork({ publicClient, account: account.address, asset });
    const before = await publicClient.getBlockNumber();
    await deployContracts(deployer("gas"), plan());
    let used = 0n;
    for (let block = before + 1n; block <= (await publicClient.getBlockNumber()); block++)
      used += (await publicClient.getBlock({ blockNumber: block })).gasUsed;
    expect(facts.symbol).to.equal("WETH");
    expect(Number(used))
      .to.be.lessThan(facts.gas)
      .and.greaterThan(facts.gas * 0.7);
  });

  /** A contract with this code. */
  const withCode = async (code: string): Promise<Hex> => {
    const at = privateKeyToAddress(generatePrivateKey());
    await anvil.request("anvil_setCode", [at, `0x${code}`]);
    return at;
  };

  it("network_asset_account_thatAreNotFit_refused_beforeAnythingIsSent", async () => {
    const nonce = await publicClient.getTransactionCount({ address: account.address });
    const refusal = async (changes: object): Promise<string> =>
      (await rejection(checkNetwork({ publicClient, account: account.address, asset, ...changes }))).message;
    expect(await refusal({ asset: account.address })).to.match(/no contract there/);
    expect(await refusal({ verifier: account.address })).to.match(/--verifier .* no contract there/);
    expect(await refusal({ account: `0x${"12".repeat(20)}` })).to.match(/holds 0 .* fund the account/);
    const without = (changed: (method: string, params: unknown) => unknown): PublicClient =>
      ({ ...publicClient, ...rewired(publicClient, changed) }) as unknown as PublicClient;
    expect(
      await refusal({ publicClient: without((method) => (method === "call" ? { data: undefined } : undefined)) }),
    ).to.match(/Osaka/);
    expect(await refusal({ verifier: asset })).to.match(/not that of this package's StepVerifier/);
    const noP256 = without((method, params) =>
      method === "call" && /^0x0{37}100$/.test((params as { to?: string }).to ?? "") ? { data: "0x" } : undefined,
    );
    expect(await refusal({ publicClient: noP256 })).to.match(/no P-256 precompile/);
    const block = await publicClient.getBlock();
    for (const [changes, words] of [
      [{ baseFeePerGas: null }, /no base fee/],
      [{ gasLimit: 15_000_000n }, /take 15000000 gas/],
    ] as const) {
      const changed = without((method) => (method === "getBlock" ? { ...block, ...changes } : undefined));
      expect(await refusal({ publicClient: changed })).to.match(words);
    }
    expect(await refusal({ asset: await withCode("60065f5260205ff3") })).to.match(/has 6 decimals, not 18/);
    expect(await refusal({ asset: await withCode("5f5ffd") })).to.match(/has no decimals\(\)/);
    // Answers 18, and reverts if it is sent anything.
    expect(await refusal({ asset: await withCode("34600c5760125f5260205ff35b5f5ffd") })).to.match(/by deposit\(\)/);
    expect(await publicClient.getTransactionCount({ address: account.address })).to.equal(nonce);
  });

  /** A client whose connection is gone once so many transactions were sent. @param isUsed Whether a method needs it */
  const breaking = (after: number, isUsed: (method: string) => boolean): Promise<PublicClient<Transport, Chain>> => {
    let sent = 0;
    const node = http(anvil.url)({ retryCount: 0 });
    const flaky = createTransport({
      key: "flaky",
      name: "flaky",
      type: "flaky",
      request: (async ({ method, params }: { method: string; params?: unknown }) => {
        if (sent >= after && isUsed(method)) throw new Error("the connection is gone");
        if (method === "eth_sendRawTransaction") sent++;
        return node.request({ method, params });
      }) as never,
    });
    return connect({ transport: () => flaky }, CHAIN_ID);
  };

  it("deployment_thatIsInterrupted_goesOnWithTheSameJournal", async () => {
    const broken = await breaking(4, (method) => method === "eth_sendRawTransaction");
    const first = await rejection(deployContracts({ ...deployer("resumed"), publicClient: broken }, plan()));
    expect(first.message).to.match(/The same command goes on from/);
    const nonce = await publicClient.getTransactionCount({ address: account.address });
    const market = await deployContracts(deployer("resumed"), plan());
    // Nine transactions in all: what was done is not done again.
    expect((await publicClient.getTransactionCount({ address: account.address })) - nonce).to.equal(5);
    const deployment = await verifyDeployment(publicClient, market, plan());
    const block = firstBlockOf(join(folder, "resumed"));
    const file = readAddressFile(writeAddressFile(folder, deployment, block));
    expect(file.contracts.market.toLowerCase()).to.equal(market.toLowerCase());
    expect(BigInt(file.block)).to.equal(block);
    const other = await rejection(
      verifyDeployment(publicClient, market, { ...plan(), parameters: { ...l1, bounty: 1n } }),
    );
    expect(other.message).to.match(/has bounty 20000000000000000, not 1/);
    for (const [changed, words] of [
      [{ manufacturers: [`0x${"56".repeat(32)}`] }, /has the manufacturers 0x3434.*, not 0x5656/],
      [{ gridBlocks: 31 }, /has gridBlocks 32, not 31/],
      [{ reportLifetime: 1 }, /has reportLifetime 604800, not 1/],
    ] as const)
      expect((await rejection(verifyDeployment(publicClient, market, { ...plan(), ...changed }))).message).to.match(
        words,
      );
    // A market with the right code, whose extensions are others: their code would answer for the market.
    const code = (await publicClient.getCode({ address: market }))!;
    const proofs = await publicClient.readContract({
      ...{ address: deployment.extension, abi: parseAbi(["function proofs() view returns (address)"]) },
      functionName: "proofs",
    });
    const bare = (address: string): string => address.slice(2).toLowerCase();
    // A call ignores the first 12 bytes of an address.
    const word = (first: string, address: string): string => `${first.padStart(24, "0")}${bare(address)}`;
    const named = word("", proofs);
    const amount = (value: bigint): string => value.toString(16).padStart(64, "0");
    const swapped = (text: string, one: string, other: string): string =>
      text.replaceAll(one, "-").replaceAll(other, one).replaceAll("-", other);
    for (const [changed, words] of [
      [code.replaceAll(named, word("", account.address)), /market, has proofs 0x[0-9a-f]{40}, not 0x/],
      [code.replaceAll(named, word("1", account.address)), /market, has proofs 0x0{23}1[0-9a-f]{40}, not 0x/],
      [code.replaceAll(named, word("", deployment.vault)), /market, has proofs 0x[0-9a-f]{40}, not 0x/],
      // Known addresses and amounts in each other's places.
      [swapped(code, word("", deployment.vault), word("", deployment.game)), /market, has vault 0x/],
      [swapped(code, amount(l1.bounty), amount(l1.collateral)), /market, has bounty \d+, not \d+/],
      // At one of the places.
      [code.replace(named, word("", deployment.vault)), /the deployment's market, is not that of this package/],
    ] as const) {
      await anvil.request("anvil_setCode", [market, changed]);
      expect((await rejection(verifyDeployment(publicClient, market, plan()))).message).to.match(words);
    }
    await anvil.request("anvil_setCode", [market, code]);
    await verifyDeployment(publicClient, market, plan());
    await anvil.request("anvil_setCode", [deployment.verifier, "0x5f5ffd"]);
    const foreign = await rejection(verifyDeployment(publicClient, market, plan()));
    expect(foreign.message).to.match(/the deployment's verifier, is not that of this package/);
  });

  it("deployment_interruptedWhileATransactionIsUnderWay_goesOn_butNotWithOtherParameters", async () => {
    // Five are deployed by then: whichever they are, one of them is sent and not confirmed.
    const broken = await breaking(5, () => true);
    const first = await rejection(deployContracts({ ...deployer("under-way"), publicClient: broken }, plan()));
    expect(first.message).to.match(/The same command goes on from/);
    const others = { ...plan(), manufacturers: [`0x${"12".repeat(32)}`] as const };
    const second = await rejection(deployContracts(deployer("under-way"), others));
    expect(second.message).to.match(/cannot go on like this: give what it began with, or start anew with .*--folder/);
    const market = await deployContracts(deployer("under-way"), plan());
    await verifyDeployment(publicClient, market, plan());
  });
});

/** A client whose calls answer something else, where `changed` says so. */
const rewired = (client: PublicClient, changed: (method: string, params: unknown) => unknown) => ({
  call: (params: never) => {
    const answer = changed("call", params);
    return answer === undefined ? client.call(params) : Promise.resolve(answer);
  },
  getBlock: (params: never) => {
    const answer = changed("getBlock", params);
    return answer === undefined ? client.getBlock(params) : Promise.resolve(answer);
  },
});
