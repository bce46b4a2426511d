import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { erc20Abi, parseEther, zeroAddress, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { startLocalChain, type LocalChain } from "../../src/demo/localChain.ts";
import { refute } from "./refute.ts";
import { mlpBytes, mlpProgram } from "../../testkit/models/mlp.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";

const DELAY = 172_800;
/** Exit statuses that are not 1 (docs/cli.md). */
const STATUS: Record<string, number> = { USAGE: 2, STAND_IN_FILE: 2, NOT_READY: 3 };
const OTHER = `0x${"22".repeat(20)}` as const;

describe("refute, a worker's account over HTTP", function () {
  let folder: string;
  let models: string;
  let manufacturer: string;
  let chain: LocalChain;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let network: Record<string, string>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    models = join(folder, "models.json");
    writeFileSync(join(folder, "mlp.onnx"), mlpBytes());
    writeFileSync(models, JSON.stringify([{ path: join(folder, "mlp.onnx") }]));
    manufacturer = join(folder, "manufacturer.json");
    const made = await refute(["stand-in-manufacturer", manufacturer]);
    expect(made.status, made.output).to.equal(0);
    chain = await startLocalChain({ manufacturers: [made.output] });
    rpc = await serveRpc(chain.provider);
    network = { REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chain.chainId), REFUTE_MARKET: chain.market };
  });
  after(async () => {
    await rpc.close();
    await chain.close();
    rmSync(folder, { recursive: true });
  });

  /** A new account with 5 of the stake asset, and how it says things on the command line. */
  async function operator() {
    const key = await chain.newAccount(parseEther("5"));
    const say = (...args: string[]) => refute(args, { ...network, REFUTE_PRIVATE_KEY: key });
    const says = async (...args: string[]): Promise<string> => {
      const { status, output } = await say(...args);
      expect(status, output).to.equal(0);
      return output;
    };
    const refused = async (code: string, ...args: string[]): Promise<string> => {
      const { status, output } = await say(...args);
      expect(status, output).to.equal(STATUS[code] ?? 1);
      expect(output).to.contain(`[${code}]`).and.not.contain(key.slice(2));
      return output;
    };
    return { key, says, refused };
  }

  let files = 0;
  async function newDevice(by = manufacturer): Promise<string> {
    const file = join(folder, `device${++files}.json`);
    const { status, output } = await refute(["stand-in-device", file, "--manufacturer", by]);
    expect(status, output).to.equal(0);
    return file;
  }

  const tokensOf = async (owner: Hex): Promise<bigint> => {
    const { publicClient, deployment } = await chain.newSession();
    return publicClient.readContract({
      address: deployment.asset,
      abi: erc20Abi,
      functionName: "balanceOf",
      args: [owner],
    });
  };

  it("fromTokensToStakeAndBack", async function () {
    const { key, says } = await operator();
    const device = await newDevice();
    expect(await says("deposit", "4.5")).to.equal("credit 4.5, staked 0, locked 0");
    const reports = JSON.parse(await says("attest", "--device", device, "--models", models, "--json")) as object;
    expect(reports).to.have.nested.property("provisioning.program", mlpProgram().model.programRoot);
    expect(await says("stake", "4")).to.equal("credit 0.5, staked 4, locked 0");

    const asked = await says("unstake", "1.5");
    expect(asked).to.match(/^credit 0.5, staked 2.5, locked 0, asked back 1.5, ready at \d{4}-.*Z$/);
    const shown = JSON.parse(
      (await refute(["status", "--account", privateKeyToAddress(key), "--json"], network)).output,
    ) as object;
    expect(shown).to.include({ attestationLive: true, staked: "2.5", askedBack: "1.5" });
    await chain.advance(DELAY);
    expect(await says("unstake")).to.equal("credit 2, staked 2.5, locked 0");

    expect(await says("withdraw", "1.25", "--to", OTHER)).to.equal("credit 0.75, staked 2.5, locked 0");
    expect(await tokensOf(OTHER)).to.equal(parseEther("1.25"));
  });

  it("attestedAgain_aDeviceFileGoesOnCounting_andShowsNoKey", async function () {
    const { says } = await operator();
    const device = await newDevice();
    const { privateKey } = JSON.parse(readFileSync(device, "utf8")) as { privateKey: string };
    const [, secret] = privateKey.split("\n");
    for (const counter of [2, 4]) {
      const output = await says("attest", "--device", device, "--models", models, "--lifetime-seconds", "3600");
      expect(output).to.not.contain(secret);
      expect(JSON.parse(readFileSync(device, "utf8"))).to.include({ counter, privateKey });
    }
    expect(statSync(device).mode & 0o777).to.equal(0o600);
  });

  it("aRequestAfterTheDelay_takesOutFirstWhatIsReady", async function () {
    const { says, refused } = await operator();
    await says("deposit", "3");
    await says("attest", "--device", await newDevice(), "--models", models);
    await says("stake", "3");
    await says("unstake", "1");
    expect(await refused("NOT_READY", "unstake")).to.match(/1 is ready at \d{4}-/);
    await chain.advance(DELAY);
    expect(await says("unstake", "0.5")).to.contain("credit 1, staked 1.5, locked 0, asked back 0.5");
    await refused("NOT_READY", "unstake");
  });

  it("tooLittle_isRefused_andSaysWhatThereIs", async function () {
    const { says, refused } = await operator();
    expect(await refused("SHORT_OF_FUNDS", "deposit", "5.1")).to.contain("holds 5 ");
    await says("deposit", "1");
    expect(await refused("SHORT_OF_FUNDS", "withdraw", "2", "--to", OTHER)).to.contain("credit 1, not 2");
    expect(await refused("SHORT_OF_FUNDS", "unstake", "1")).to.contain("0 of unlocked stake");
    expect(await refused("SHORT_OF_FUNDS", "unstake")).to.contain("no stake back");
    expect(await refused("NOT_ATTESTED", "stake", "1")).to.contain("refute attest");
    await says("attest", "--device", await newDevice(), "--models", models);
    expect(await refused("SHORT_OF_FUNDS", "stake", "1.5")).to.contain("refute deposit");
  });

  it("amountsAndAddressesThatAreNone_areRefused", async function () {
    const { refused } = await operator();
    for (const command of ["deposit", "stake", "unstake", "withdraw"]) {
      for (const amount of ["0", "0.0", "1e3", "1,5", "x", `0.${"1".repeat(19)}`]) {
        expect(await refused("USAGE", command, amount)).to.contain(`AMOUNT ${amount}: expected an amount over 0`);
      }
    }
    expect(await refused("USAGE", "withdraw", "1")).to.contain("--to");
    expect(await refused("USAGE", "withdraw", "1", "--to", "0x12")).to.contain("--to 0x12: expected an address");
    expect(await refused("USAGE", "withdraw", "1", "--to", zeroAddress)).to.contain("zero address");
  });

  it("withoutAKey_everyCommandIsRefused", async function () {
    const device = await newDevice();
    const attest = ["attest", "--device", device, "--models", models];
    for (const args of [["deposit", "1"], ["stake", "1"], ["unstake"], ["withdraw", "1", "--to", OTHER], attest]) {
      expect((await refute(args, network)).output).to.contain("[KEY]");
    }
  });

  it("devicesThatTheChainDoesNotTake_areRefused", async function () {
    const unknown = join(folder, "unknown.json");
    await refute(["stand-in-manufacturer", unknown]);
    const { says, refused } = await operator();
    const attest = (device: string) => ["attest", "--device", device, "--models", models];
    expect(await refused("CONTRACT_REVERT", ...attest(await newDevice(unknown)))).to.contain("ManufacturerNotTrusted");
    const device = await newDevice();
    await says(...attest(device));
    expect(await (await operator()).refused("CONTRACT_REVERT", ...attest(device))).to.contain("DeviceBacksAnother");
  });

  it("filesThatAreNoDevice_areRefused_withoutShowingWhatTheyHold", async function () {
    const { refused } = await operator();
    const file = join(folder, "bad.json");
    const attest = ["attest", "--device", file, "--models", models];
    expect(await refused("STAND_IN_FILE", ...attest)).to.contain("cannot be read");
    expect(await refused("USAGE", "attest", "--models", models)).to.contain("--device");
    const good = JSON.parse(readFileSync(await newDevice(), "utf8")) as object;
    const bad: [text: string, expected: string][] = [
      ["tellNobody", "not JSON"],
      [readFileSync(manufacturer, "utf8"), "no stand-in device"],
      [JSON.stringify({ ...good, counter: -1 }), "counter"],
      [JSON.stringify({ ...good, privateKey: "tellNobody" }), "no P-256 key"],
    ];
    for (const [text, expected] of bad) {
      writeFileSync(file, text);
      expect(await refused("STAND_IN_FILE", ...attest))
        .to.contain(expected)
        .and.not.match(/tellNobody|PRIVATE KEY/);
    }
  });

  it("standIns_neverOverwriteAFile_andNeedTheirManufacturer", async function () {
    const device = await newDevice();
    const before = readFileSync(device, "utf8");
    for (const args of [
      ["stand-in-manufacturer", device],
      ["stand-in-device", device, "--manufacturer", manufacturer],
    ]) {
      expect((await refute(args)).output)
        .to.contain("exists")
        .and.contain("[STAND_IN_FILE]");
    }
    expect(readFileSync(device, "utf8")).to.equal(before);
    const fresh = join(folder, "fresh.json");
    expect((await refute(["stand-in-device", fresh, "--manufacturer", device])).output).to.contain("[STAND_IN_FILE]");
    expect((await refute(["stand-in-device", fresh])).status).to.equal(2);
  });
});
