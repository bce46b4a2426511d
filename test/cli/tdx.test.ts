import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { bytesToHex, pad, parseEther, type Address, type Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { startLocalChain, type LocalChain } from "../../src/deploy/demo/localChain.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { collateralFile } from "../../testkit/tdx/collateralFile.ts";
import { imitateKernel, type Quoting } from "../../testkit/tdx/imitatedKernel.ts";
import { TestPki } from "../../testkit/tdx/pki.ts";
import { pem, PCK, TestPlatform } from "../../testkit/tdx/quotes.ts";
import { refute } from "./refute.ts";

const DAY = 86_400;

describe("refute deploy tdx, tdx status, tdx bring and attest --tdx", function () {
  this.timeout(120_000);
  let folder: string;
  let tsm: string;
  let chain: LocalChain;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let network: Record<string, string>;
  let pki: TestPki;
  let platform: TestPlatform;
  let quoting: Quoting;
  let endImitation: () => void;
  let verifier: Address;
  let now: number;

  const answerOf = async <T>(args: readonly string[], env = network): Promise<T> => {
    const { status, output, stdout } = await refute([...args, "--json"], env);
    expect(status, output).to.equal(0);
    return JSON.parse(stdout) as T;
  };
  type Needs = { device: Hex; needs: { what: string; state: string; until: string }[] };
  const status = () => answerOf<Needs>(["tdx", "status", "--verifier", verifier, "--quote", join(folder, "quote.bin")]);
  /** Of a node without old states, which shows an error or no code, and with a first block after all events. */
  const statusOfAPrunedNode = async (isSilent: boolean): Promise<Needs> => {
    const head = BigInt((await chain.provider.request({ method: "eth_blockNumber" })) as string);
    const pruned = await serveRpc(chain.provider, ({ method, params = [] }, pass) => {
      const block = String(params[1]);
      if (method !== "eth_getCode" || !block.startsWith("0x") || BigInt(block) >= head) return pass();
      if (isSilent) return Promise.resolve("0x");
      return Promise.reject(new Error("missing trie node 0x12 (path ) state 0x12 is not available"));
    });
    const args = ["tdx", "status", "--verifier", verifier, "--quote", join(folder, "quote.bin")];
    const env = { ...network, REFUTE_RPC_URL: pruned.url };
    return answerOf<Needs>([...args, "--from-block", String(head)], env).finally(() => pruned.close());
  };
  const bring = async (name: string, fields: Parameters<typeof collateralFile>[1]): Promise<string[]> => {
    const file = join(folder, name);
    writeFileSync(file, collateralFile(pki, fields));
    const { brought } = await answerOf<{ brought: { what: string }[] }>(["tdx", "bring", file, "--verifier", verifier]);
    return brought.map(({ what }) => what);
  };
  const attest = (env = network) => refute(["device", "attest", "--tdx", verifier, "--tsm", tsm, "--json"], env);
  const reason = async (): Promise<string> => {
    const account = privateKeyToAddress(network.REFUTE_PRIVATE_KEY as Hex);
    const of = await answerOf<{ attestation: { reason: string } }>(["status", "--account", account]);
    return of.attestation.reason;
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    tsm = join(folder, "tsm");
    mkdirSync(tsm);
    const first = await startLocalChain();
    rpc = await serveRpc(first.provider);
    now = Number(await first.now());
    pki = new TestPki(now);
    platform = new TestPlatform(pki);
    quoting = (data) => platform.quote({ reportData: bytesToHex(data) });
    endImitation = imitateKernel(tsm, () => quoting);
    writeFileSync(join(folder, "root.pem"), pem(pki.rootCertificate().der));
    writeFileSync(join(folder, "quote.bin"), platform.quote());
    const key = await first.newAccount(parseEther("5"));
    network = { REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(first.chainId), REFUTE_PRIVATE_KEY: key };
    const where = ["--folder", join(folder, "deployments"), "--confirmations", "1"];
    const made = await answerOf<{ verifier: Address; manufacturer: Hex }>([
      ...["deploy", "tdx", "--root", join(folder, "root.pem"), "--grace", String(60 * DAY)],
      ...where,
    ]);
    verifier = made.verifier;
    expect(made.manufacturer).to.equal(pad(verifier).toLowerCase());
    chain = await first.deployAgain({ manufacturers: [made.manufacturer] });
    network.REFUTE_MARKET = chain.market;
    // An interrupted or repeated deployment goes on from its journal: nothing is deployed twice.
    const again = await answerOf<{ verifier: Address }>([
      ...["deploy", "tdx", "--root", join(folder, "root.pem"), "--grace", String(60 * DAY)],
      ...where,
    ]);
    expect(again.verifier).to.equal(verifier);
  });
  after(async () => {
    endImitation();
    await rpc.close();
    await chain.close();
    rmSync(folder, { recursive: true });
  });

  it("aTrustDomain_isRegistered_stakes_renews_andIsRevoked_byCommandsOnly", async () => {
    const missing = await status();
    expect(missing.needs.map(({ state }) => state)).to.deep.equal(["missing", "missing", "missing", "missing"]);
    const early = await attest();
    expect(early.status).not.to.equal(0);
    expect(early.output).to.contain("COLLATERAL_MISSING");
    expect(await bring("collateral.json", { issued: now })).to.deep.equal([
      "certificate Intel SGX PCK Platform CA",
      "certificate Intel SGX TCB Signing",
      "revocation list of the root",
      "revocation list of authority 1",
      "TCB info 17",
      "identity of the enclave 17",
    ]);
    expect(await bring("again.json", { issued: now })).to.deep.equal([]);
    const current = await status();
    expect(current.needs.map(({ what, state }) => [what, state])).to.deep.equal([
      ["revocation list of the root", "current"],
      ["revocation list of authority 1", "current"],
      ["TCB info 17", "current"],
      ["identity of the enclave 17", "current"],
    ]);
    await chain.provider.request({ method: "hardhat_mine", params: ["0x100", "0x1"] });
    for (const isSilent of [false, true]) {
      const { needs } = await statusOfAPrunedNode(isSilent);
      expect(needs, `silent: ${isSilent}`).to.deep.equal((await status()).needs);
    }
    expect(await reason()).to.equal("noDevice");
    const refused = await refute(["account", "stake", "1"], network);
    expect(refused.status).to.equal(1);
    const registered = await attest();
    expect(registered.status, registered.output).to.equal(0);
    const attested = JSON.parse(registered.stdout) as { device: Hex; attestation: { reason: string; time: string } };
    expect(attested).to.deep.include({ device: current.device });
    expect(attested.attestation.reason).to.equal("eligible");
    await answerOf(["account", "deposit", "2"]);
    const ledger = await answerOf<{ staked: string }>(["account", "stake", "2"]);
    expect(ledger.staked).to.equal("2");
    await chain.advance(3 * DAY);
    const renewed = JSON.parse((await attest()).stdout) as { attestation: { time: string } };
    expect(BigInt(renewed.attestation.time) - BigInt(attested.attestation.time) >= BigInt(3 * DAY)).to.equal(true);
    const serial = platform.leaf.serial;
    expect(await bring("revoked.json", { issued: now + DAY, revoked: [serial] })).to.include(
      "revocation list of authority 1",
    );
    expect((await status()).needs.map(({ state }) => state)).to.include("revoked");
    expect(await reason()).to.equal("platformRevoked");
    const over = await attest();
    expect(over.status).to.equal(1);
    expect(over.output).to.contain("CertificateRevoked");
    // What it has is its own still.
    const left = await answerOf<{ askedBack: string }>(["account", "unstake", "2"]);
    expect(left.askedBack).to.equal("2");
  });

  it("aForeignQuote_isRefused_byName", async () => {
    const other = new TestPlatform(pki, { ...PCK, ppid: `0x${"77".repeat(16)}` });
    quoting = (data) => other.quote({ reportData: bytesToHex(data) });
    const accepted = await attest();
    expect(accepted.status, accepted.output).to.equal(0);
    const rival = { ...network, REFUTE_PRIVATE_KEY: await chain.newAccount() };
    // The same machine, for another worker.
    const backs = await attest(rival);
    expect(backs.status).to.equal(1);
    expect(backs.output).to.contain("DeviceBacksAnother");
    // A quote that was made for somebody else.
    const foreign = other.quote({ reportData: `0x${"11".repeat(64)}` });
    quoting = () => foreign;
    const stolen = await attest(rival);
    expect(stolen.status).not.to.equal(0);
    expect(stolen.output).to.contain("other report data than were asked for");
    // A machine of another root.
    const stranger = new TestPlatform(new TestPki(now));
    quoting = (data) => stranger.quote({ reportData: bytesToHex(data) });
    const unknown = await attest(rival);
    expect(unknown.status).not.to.equal(0);
    expect(unknown.output).to.match(/BadSignature|NotSigned|BadCertificate|Wrong/);
  });

  it("rootsThatAreNone_areRefused", async () => {
    const file = join(folder, "signer.pem");
    writeFileSync(file, pem(pki.signer.der));
    writeFileSync(join(folder, "no.pem"), "no certificate");
    for (const [name, says] of [
      [file, "signed by another"],
      [join(folder, "no.pem"), "expected the certificate of a root"],
      [join(folder, "none.pem"), "--root"],
    ] as const) {
      const { status: exit, output } = await refute(["deploy", "tdx", "--root", name], network);
      expect(exit, output).to.equal(2);
      expect(output).to.contain(says);
    }
  });
});
