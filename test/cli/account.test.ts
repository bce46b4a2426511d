import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { erc20Abi, parseEther, zeroAddress, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { holdDevice } from "../../src/attestation/heldDevice.ts";
import { startLocalChain, type LocalChain } from "../../src/deploy/demo/localChain.ts";
import { giveAsset } from "../../src/deploy/devnet/parties.ts";
import { refute } from "./refute.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";

const DELAY = 172_800;
/** Exit statuses that are not 1 (docs/cli.md). */
const STATUS: Record<string, number> = { USAGE: 2, STAND_IN_FILE: 2, NOT_READY: 3, DONGLE_AWAY: 3 };
const OTHER = `0x${"22".repeat(20)}` as const;

describe("refute, a worker's account over HTTP", function () {
  let folder: string;
  let manufacturer: string;
  let chain: LocalChain;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let network: Record<string, string>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    manufacturer = join(folder, "manufacturer.json");
    const made = await refute(["device", "stand-in-manufacturer", manufacturer]);
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
    const file = join(folder, `device${++files}`);
    const { status, output } = await refute(["device", "stand-in", file, "--manufacturer", by]);
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
    expect(await says("account", "deposit", "4.5")).to.equal("credit 4.5 WETH, staked 0 WETH, locked 0 WETH");
    const report = JSON.parse(await says("device", "attest", "--device", device, "--json")) as object;
    expect(report)
      .to.include({ class: "processors", seq: "1" })
      .and.have.nested.property("parts[0].kind", "processors");
    expect(await says("account", "stake", "4")).to.equal("credit 0.5 WETH, staked 4 WETH, locked 0 WETH");

    const asked = await says("account", "unstake", "1.5");
    expect(asked).to.match(
      /^credit 0.5 WETH, staked 2.5 WETH, locked 0 WETH, asked back 1.5 WETH, ready at \d{4}-.*Z$/,
    );
    const shown = JSON.parse(
      (await refute(["status", "--account", privateKeyToAddress(key), "--json"], network)).output,
    ) as object;
    expect(shown).to.include({ attestationLive: true, staked: "2.5", askedBack: "1.5" });
    expect(shown).to.have.nested.property("attestation.reason", "eligible");
    await chain.advance(DELAY);
    expect(await says("account", "unstake")).to.equal("credit 2 WETH, staked 2.5 WETH, locked 0 WETH");

    expect(await says("account", "withdraw", "1.25", "--to", OTHER)).to.equal(
      "credit 0.75 WETH, staked 2.5 WETH, locked 0 WETH",
    );
    expect(await tokensOf(OTHER)).to.equal(parseEther("1.25"));
  });

  it("depositWithWrap_takesFromCoinsWhatTheTokensLack", async () => {
    const { key, says, refused } = await operator();
    await refused("SHORT_OF_FUNDS", "account", "deposit", "7");
    expect(await says("account", "deposit", "7", "--wrap")).to.equal("credit 7 WETH, staked 0 WETH, locked 0 WETH");
    expect(await tokensOf(privateKeyToAddress(key))).to.equal(0n);
    // Tokens that suffice are taken alone.
    await chain.sessionOf(key).then((session) => giveAsset(session, parseEther("2")));
    expect(await says("account", "deposit", "1", "--wrap")).to.equal("credit 8 WETH, staked 0 WETH, locked 0 WETH");
    expect(await tokensOf(privateKeyToAddress(key))).to.equal(parseEther("1"));
  });

  it("attestedAgain_aDevicesFolderGoesOnCounting_andShowsNoKey", async function () {
    const { says } = await operator();
    const device = await newDevice();
    const key = join(device, "device.json");
    const { privateKey } = JSON.parse(readFileSync(key, "utf8")) as { privateKey: string };
    const [, secret] = privateKey.split("\n");
    for (const counter of [1, 2]) {
      const output = await says("device", "attest", "--device", device);
      expect(output).to.not.contain(secret);
      expect(readFileSync(join(device, "counter"), "utf8")).to.equal(`${counter}\n`);
      expect(JSON.parse(readFileSync(key, "utf8"))).to.include({ privateKey });
    }
    expect(statSync(key).mode & 0o777).to.equal(0o600);
  });

  it("dongleAtItsSocket_attests_andItsFolderIsTaken", async function () {
    const { says, refused } = await operator();
    const folder = await newDevice();
    const held = await holdDevice(folder);
    held.serve(() => undefined);
    expect(await refused("DEVICE_IN_USE", "device", "attest", "--device", folder)).to.contain("--dongle");
    expect(await says("device", "attest", "--dongle", held.socket)).to.contain("class");
    await held.release();
    expect(await refused("DONGLE_AWAY", "device", "attest", "--dongle", held.socket)).to.contain("start it");
    for (const both of [[], ["--device", folder, "--dongle", held.socket]])
      expect(await refused("USAGE", "device", "attest", ...both)).to.contain("name one device");
  });

  it("releasedDevice_servesAnotherWorker_andStatusSaysWhyTheFirstMayNotClaim", async function () {
    const [first, second] = [await operator(), await operator()];
    const device = await newDevice();
    await first.says("device", "attest", "--device", device);
    await first.says("device", "release");
    expect(await second.refused("CONTRACT_REVERT", "device", "attest", "--device", device)).to.contain("DeviceBacks");
    await chain.advance(86_401);
    await second.says("device", "attest", "--device", device);
    const status = async ({ key }: { key: Hex }) =>
      (await refute(["status", "--account", privateKeyToAddress(key)], network)).output;
    expect(await status(first)).to.contain("none that is live: no device backs the account: run refute device attest");
    expect(await status(second)).to.match(/attestation: live until \d{4}-/);
    expect(await first.refused("CONTRACT_REVERT", "device", "release")).to.contain("NoLease");
  });

  it("aRequestAfterTheDelay_takesOutFirstWhatIsReady", async function () {
    const { says, refused } = await operator();
    await says("account", "deposit", "3");
    await says("device", "attest", "--device", await newDevice());
    await says("account", "stake", "3");
    await says("account", "unstake", "1");
    expect(await refused("NOT_READY", "account", "unstake")).to.match(/1 WETH is ready at \d{4}-/);
    await chain.advance(DELAY);
    expect(await says("account", "unstake", "0.5")).to.contain(
      "credit 1 WETH, staked 1.5 WETH, locked 0 WETH, asked back 0.5 WETH",
    );
    await refused("NOT_READY", "account", "unstake");
  });

  it("tooLittle_isRefused_andSaysWhatThereIs", async function () {
    const { says, refused } = await operator();
    expect(await refused("SHORT_OF_FUNDS", "account", "deposit", "5.1")).to.contain("holds 5 ");
    await says("account", "deposit", "1");
    expect(await refused("SHORT_OF_FUNDS", "account", "withdraw", "2", "--to", OTHER)).to.contain(
      "credit 1 WETH, not 2 WETH",
    );
    expect(await refused("SHORT_OF_FUNDS", "account", "unstake", "1")).to.contain("0 WETH of unlocked stake");
    expect(await refused("SHORT_OF_FUNDS", "account", "unstake")).to.contain("no stake back");
    expect(await refused("NOT_ATTESTED", "account", "stake", "1")).to.contain("refute device attest");
    await says("device", "attest", "--device", await newDevice());
    expect(await refused("SHORT_OF_FUNDS", "account", "stake", "1.5")).to.contain("refute account deposit");
  });

  it("amountsAndAddressesThatAreNone_areRefused", async function () {
    const { refused } = await operator();
    for (const command of ["deposit", "stake", "unstake", "withdraw"]) {
      for (const amount of ["0", "0.0", "1e3", "1,5", "x", `0.${"1".repeat(19)}`]) {
        expect(await refused("USAGE", "account", command, amount)).to.contain(
          `AMOUNT ${amount}: expected an amount over 0`,
        );
      }
    }
    expect(await refused("USAGE", "account", "withdraw", "1")).to.contain("--to");
    expect(await refused("USAGE", "account", "withdraw", "1", "--to", "0x12")).to.contain(
      "--to 0x12: expected an address",
    );
    expect(await refused("USAGE", "account", "withdraw", "1", "--to", zeroAddress)).to.contain("zero address");
  });

  it("withoutAKey_everyCommandIsRefused", async function () {
    const device = await newDevice();
    const attest = ["device", "attest", "--device", device];
    for (const args of [
      ["account", "deposit", "1"],
      ["account", "stake", "1"],
      ["account", "unstake"],
      ["account", "withdraw", "1", "--to", OTHER],
      attest,
    ]) {
      expect((await refute(args, network)).output).to.contain("[KEY]");
    }
  });

  it("devicesThatTheChainDoesNotTake_areRefused", async function () {
    const unknown = join(folder, "unknown.json");
    await refute(["device", "stand-in-manufacturer", unknown]);
    const { says, refused } = await operator();
    const attest = (device: string) => ["device", "attest", "--device", device];
    expect(await refused("CONTRACT_REVERT", ...attest(await newDevice(unknown)))).to.contain("ManufacturerNotTrusted");
    const device = await newDevice();
    await says(...attest(device));
    expect(await (await operator()).refused("CONTRACT_REVERT", ...attest(device))).to.contain("DeviceBacksAnother");
  });

  it("filesThatAreNoDevice_areRefused_withoutShowingWhatTheyHold", async function () {
    const { refused } = await operator();
    const file = join(folder, "bad");
    const attest = ["device", "attest", "--device", file];
    expect(await refused("STAND_IN_FILE", ...attest)).to.contain("is no folder of a device");
    expect(await refused("USAGE", "device", "attest")).to.contain("--device");
    const key = join(file, "device.json");
    cpSync(await newDevice(), file, { recursive: true });
    chmodSync(file, 0o700);
    const good = JSON.parse(readFileSync(key, "utf8")) as object;
    const bad: [text: string, expected: string][] = [
      ["tellNobody", "not JSON"],
      [readFileSync(manufacturer, "utf8"), "no stand-in device"],
      [JSON.stringify({ ...good, counter: 1 }), "the whole"],
      [JSON.stringify({ ...good, privateKey: "tellNobody" }), "no P-256 key"],
    ];
    for (const [text, expected] of bad) {
      writeFileSync(key, text);
      expect(await refused("STAND_IN_FILE", ...attest))
        .to.contain(expected)
        .and.not.match(/tellNobody|PRIVATE KEY/);
    }
  });

  it("standIns_neverOverwriteAFile_andNeedTheirManufacturer", async function () {
    const device = await newDevice();
    const key = join(device, "device.json");
    const before = readFileSync(key, "utf8");
    for (const args of [
      ["device", "stand-in-manufacturer", device],
      ["device", "stand-in", device, "--manufacturer", manufacturer],
    ]) {
      expect((await refute(args)).output)
        .to.contain("exists")
        .and.contain("[STAND_IN_FILE]");
    }
    expect(readFileSync(key, "utf8")).to.equal(before);
    const fresh = join(folder, "fresh");
    expect((await refute(["device", "stand-in", fresh, "--manufacturer", key])).output).to.contain("[STAND_IN_FILE]");
    expect((await refute(["device", "stand-in", fresh])).status).to.equal(2);
  });
});
