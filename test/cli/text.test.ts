import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseAbi } from "viem";
import { LIBRARIES } from "../../src/parties/gateway/textModel.ts";
import type { Receipt } from "../../src/parties/gateway/receiptForm.ts";
import { lyingEvery, startGateway, textKit, TOKENIZER, type TextKit } from "../../testkit/players/gatewayPlayers.ts";
import { TicketPlayers } from "../../testkit/players/ticketPlayers.ts";
import { serveRpc } from "../../testkit/nodes/rpcServer.ts";
import { refute } from "./refute.ts";

const BODY = { model: "words", prompt: "A word", seed: 5, max_tokens: 4 };

describe("refute text", function () {
  this.timeout(300_000);
  let world: TicketPlayers;
  let kit: TextKit;
  let rpc: Awaited<ReturnType<typeof serveRpc>>;
  let env: Record<string, string>;
  let about: string[];
  const file = (name: string, content: unknown): string => {
    const path = join(world.folder, name);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };

  before(async () => {
    world = await TicketPlayers.create();
    await world.setClock();
    kit = await textKit(world.folder);
    const { chain } = world.players;
    rpc = await serveRpc(chain.provider);
    const key = await chain.newAccount(10n ** 18n);
    const { session } = await world.open(key);
    env = {
      ...{ REFUTE_RPC_URL: rpc.url, REFUTE_CHAIN_ID: String(chain.chainId), REFUTE_PRIVATE_KEY: key },
      ...{ REFUTE_MARKET: session.deployment.market, REFUTE_TICKETS: world.tickets },
    };
    const { path, decoder } = kit.spec;
    const models = file("models.json", [{ path, decoder }]);
    const config = join(world.folder, "tokenizer_config.json");
    const texts = file("texts.json", [{ name: "words", model: path, tokenizer: TOKENIZER, config }]);
    about = ["--models", models, "--texts", texts, "--request", file("request.json", BODY)];
  });
  after(async () => {
    await kit?.executors.close();
    await rpc?.close();
    await world.close();
  });

  /** Buys a text. @returns the answer's file, and what ends its seller */
  async function bought(name: string, execute = kit.execute) {
    const serving = await world.serve(await world.workerKey(), kit.model.program, execute);
    const at = await world.payer(serving.at.account.address);
    const gateway = await startGateway(world, kit, at, [serving.url]);
    const answer = await fetch(`${gateway.url}/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(BODY),
    });
    expect(answer.status).to.equal(200);
    const json = (await answer.json()) as { receipt: Receipt };
    await gateway.close();
    return { path: file(name, json), json, serving };
  }

  it("receipts_areVerified_andALieInOneIsRefuted_whileItCanBe", async () => {
    const { path, json, serving } = await bought("answer.json");
    const good = await refute(["text", "receipt", "verify", path, ...about, "--json"], env);
    expect(good.status, good.output).to.equal(0);
    expect(JSON.parse(good.stdout)).to.include({ id: json.receipt.id, right: true, pledge: "active", completion: 4 });
    const nothing = await refute(["text", "receipt", "refute", path, ...about], env);
    expect(nothing.output).to.contain("there is nothing to refute");
    const { receipt } = json;
    const changed = file("changed.json", { ...receipt, text: { ...receipt.text, finish: "stop" } });
    const bad = await refute(["text", "receipt", "verify", changed, ...about], env);
    expect([bad.status, bad.output.includes("text.finish is")]).to.deep.equal([1, true]);
    await serving.stop();

    const lying = lyingEvery(1, kit.execute, kit.model.program);
    const lie = await bought("lie.json", lying);
    const shown = await refute(["text", "receipt", "verify", lie.path, ...about], env);
    expect(shown.output).to.contain("blocks[0] is a lie of").and.contain("[RECEIPT]");
    const following = world.follow(lie.serving, kit.model.program, lying);
    await fund();
    const refuted = await refute(["text", "receipt", "refute", lie.path, ...about, "--json"], env);
    expect(refuted.status, refuted.output).to.equal(0);
    expect(JSON.parse(refuted.stdout)).to.include({ refuted: true, block: 0 });
    await following.stop();
    await lie.serving.stop();

    await world.players.chain.advance(901);
    const late = await refute(["text", "receipt", "refute", lie.path, ...about], env);
    expect(late.output).to.contain("refutableUntil is over");
  });

  it("claimOfAReceipt_isValidatedForAnAgent_onceItIsFinal", async () => {
    await world.setClock();
    const { path, json, serving } = await bought("validated.json");
    const { chain } = world.players;
    const { session } = await world.open(env.REFUTE_PRIVATE_KEY as `0x${string}`);
    const identities = await chain.deploy("AgentIdentities", []);
    const registry = await chain.deploy("AgentValidations", [identities]);
    const folder = ["--folder", world.folder, "--confirmations", "1", "--json"];
    const deployed = await refute(["deploy", "validator", "--registry", registry, ...folder], env);
    expect(deployed.status, deployed.output).to.equal(0);
    const { validator } = JSON.parse(deployed.stdout) as { validator: string };
    const abi = parseAbi(["function register()", "function setWallet(uint256,address)"]);
    const at = { address: identities, abi };
    await session.sender.send({ ...at, functionName: "register", args: [] });
    const validate = (...more: string[]) =>
      refute(["text", "validate", path, ...about, "--agent", "0", "--validator", validator, "--json", ...more], env);
    const none = await validate("--block", "1");
    expect([none.status, none.output.includes("has 1 blocks")]).to.deep.equal([2, true]);
    const early = await validate();
    expect(early.output, early.output).to.contain("asked as 0x").and.contain("can be disputed until");
    await chain.advance(4_000);
    const stranger = await validate();
    expect(stranger.output).to.contain("NotOfAgent");
    await session.sender.send({ ...at, functionName: "setWallet", args: [0n, serving.at.account.address] });
    for (let k = 0; k < 2; k++) {
      const done = await validate();
      expect(done.status, done.output).to.equal(0);
      const tag = `refute:worker:${kit.model.program.model.programRoot}`;
      expect(JSON.parse(done.stdout)).to.include({ id: json.receipt.id, block: 0, response: 100, tag });
    }
    await serving.stop();
  });

  /** Gives the account of the command line a bond. */
  async function fund(): Promise<void> {
    const { session } = await world.open(env.REFUTE_PRIVATE_KEY as `0x${string}`);
    const { deposit } = await import("../../src/chain/market/deposit.ts");
    await deposit(session, session.deployment.bond);
  }

  it("keys_areShownOnce_andKeptAsHashes", async () => {
    const keys = join(world.folder, "keys.json");
    const made = await refute(["text", "key", "alice", "--keys", keys, "--budget", "0.5", "--json"], {});
    expect(made.status, made.output).to.equal(0);
    const { key } = JSON.parse(made.stdout) as { key: string };
    expect(key).to.match(/^sk-refute-[\w-]{43}$/);
    expect(readFileSync(keys, "utf8")).to.contain("sha256").and.not.contain(key);
    expect((await refute(["text", "key", "alice", "--keys", keys], {})).output).to.contain("choose another name");
  });

  it("gatewayForOthers_needsKeys_andFilesThatDoNotFitAreNamed", async () => {
    const state = ["--ledger", join(world.folder, "p.db"), "--sold", join(world.folder, "s.db"), "--face", "0.01"];
    const open = await refute(["text", "gateway", ...about.slice(0, 4), ...state, "--host", "0.0.0.0"], env);
    expect([open.status, open.output.includes("needs --keys FILE")]).to.deep.equal([2, true]);
    const other = file("other.json", [{ name: "words", model: "none.onnx", tokenizer: "t.json" }]);
    const wrong = await refute(["text", "gateway", ...about.slice(0, 2), "--texts", other, ...state], env);
    expect([wrong.status, wrong.output.includes("must be one decoder of")]).to.deep.equal([2, true]);
  });

  it("librariesInReceipts_areThoseInstalled", () => {
    const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
      devDependencies: Record<string, string>;
    };
    expect(LIBRARIES).to.deep.equal({
      tokenizers: devDependencies["@huggingface/tokenizers"],
      jinja: devDependencies["@huggingface/jinja"],
    });
  });
});
