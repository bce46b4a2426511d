import { expect } from "chai";
import { Wallet } from "ethers";
import { parseEther, type Address, type Hex, type TransactionSerializableEIP1559 } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { connect } from "../../src/chain/connect.ts";
import { SignerError, SignerUnavailableError } from "../../src/chain/errors.ts";
import { remoteAccount } from "../../src/chain/remoteSigner.ts";
import { Anvil, anvilBinary } from "../../src/deploy/devnet/anvil.ts";
import { serveRpc, type RpcRequest } from "../../testkit/nodes/rpcServer.ts";
import { otherSignatures } from "../../testkit/players/otherSignatures.ts";
import { rejection } from "../../testkit/rejection.ts";

const TO = "0x00000000000000000000000000000000000000ee";
const TRANSACTION: TransactionSerializableEIP1559 = {
  type: "eip1559",
  chainId: 31_337,
  nonce: 0,
  to: TO,
  data: "0x0102",
  value: parseEther("1"),
  gas: 50_000n,
  maxFeePerGas: 3n * 10n ** 9n,
  maxPriorityFeePerGas: 10n ** 9n,
};
const TYPED = {
  domain: { name: "Refute", chainId: 1n },
  types: { Note: [{ name: "amount", type: "uint256" }] },
  primaryType: "Note",
  message: { amount: 2n ** 200n },
} as const;

/** What ethers signs of typed data in JSON. */
function signJson(key: Hex, json: string): Promise<string> {
  const { domain, types, message } = JSON.parse(json) as Record<string, Record<string, unknown>>;
  const { EIP712Domain: declared, ...others } = types!;
  expect((declared as { name: string }[]).map(({ name }) => name)).to.deep.equal(Object.keys(domain!));
  return new Wallet(key).signTypedData(domain!, others as never, message!);
}

/** What Web3Signer answers for a key, as its documentation describes it. */
function web3Signer(key: Hex) {
  const account = privateKeyToAccount(key);
  return async ({ method, params = [] }: RpcRequest): Promise<unknown> => {
    if (method === "eth_accounts") return [account.address.toLowerCase()];
    if (method === "eth_sign") return account.signMessage({ message: { raw: params[1] as Hex } });
    if (method === "eth_signTypedData") return signJson(key, params[1] as string);
    if (method !== "eth_signTransaction") throw new Error(`no method ${method}`);
    const given = params[0] as Record<string, Hex>;
    const number = (name: string): bigint => BigInt(given[name]!);
    return account.signTransaction({
      type: "eip1559",
      chainId: Number(given.chainId),
      nonce: Number(given.nonce),
      to: given.to as Address,
      data: given.data!,
      value: number("value"),
      gas: number("gas"),
      maxFeePerGas: number("maxFeePerGas"),
      maxPriorityFeePerGas: number("maxPriorityFeePerGas"),
    });
  };
}

describe("remoteAccount", function () {
  const [secret, otherSecret] = [generatePrivateKey(), generatePrivateKey()];
  const [key, other] = [privateKeyToAccount(secret), privateKeyToAccount(otherSecret)];
  let answer: (request: RpcRequest) => Promise<unknown>;
  let server: Awaited<ReturnType<typeof serveRpc>>;
  before(async function () {
    server = await serveRpc({ request: () => Promise.reject(new Error("no chain")) }, (call) => answer(call));
  });
  after(() => server.close());
  beforeEach(() => void (answer = web3Signer(secret)));

  it("web3Signer_signsAsTheKeyItself", async function () {
    const account = await remoteAccount(server.url);
    expect(account.address).to.equal(key.address);
    expect(await account.signTransaction(TRANSACTION)).to.equal(await key.signTransaction(TRANSACTION));
    expect(await account.signMessage({ message: "hello" })).to.equal(await key.signMessage({ message: "hello" }));
    expect(await account.signTypedData(TYPED)).to.equal(await key.signTypedData(TYPED));
  });

  it("signerThatAnswers0Or1ForV_givesWhatContractsTake", async function () {
    const account = await remoteAccount(server.url);
    const signed = await key.signTypedData(TYPED);
    const signs = web3Signer(secret);
    answer = async (call) => (call.method === "eth_signTypedData" ? otherSignatures(signed)[0] : signs(call));
    expect(await account.signTypedData(TYPED)).to.equal(signed);
  });

  it("anvil_signsATransactionThatItThenTakes", async function () {
    const binary = anvilBinary();
    if (typeof binary !== "string") return void (console.log(binary.missing), this.skip());
    const anvil = await Anvil.start();
    try {
      const client = await connect({ rpcUrls: [anvil.url] }, 31_337);
      const held = await client.request<{ Method: "eth_accounts"; Parameters?: undefined; ReturnType: Address[] }>({
        method: "eth_accounts",
      });
      const account = await remoteAccount(anvil.url, held[3]);
      const serializedTransaction = await account.signTransaction(TRANSACTION);
      await client.waitForTransactionReceipt({ hash: await client.sendRawTransaction({ serializedTransaction }) });
      expect(await client.getBalance({ address: TO })).to.equal(parseEther("1"));
      const message = { raw: "0x00ff" } as const;
      expect(
        await client.verifyMessage({
          address: account.address,
          message,
          signature: await account.signMessage({ message }),
        }),
      ).to.equal(true);
      expect((await rejection(remoteAccount(anvil.url))).message).to.match(/holds 0x.*: say which account/);
    } finally {
      await anvil.close();
    }
  });

  const changed: [string, Partial<TransactionSerializableEIP1559>][] = [
    ["to", { to: other.address }],
    ["data", { data: "0x0103" }],
    ["value", { value: 1n }],
    ["gas", { gas: 60_000n }],
    ["nonce", { nonce: 1 }],
    ["chainId", { chainId: 1 }],
    ["maxFeePerGas", { maxFeePerGas: 10n ** 12n }],
    ["maxPriorityFeePerGas", { maxPriorityFeePerGas: 2n * 10n ** 9n }],
    ["accessList", { accessList: [{ address: TO, storageKeys: [] }] }],
  ];
  for (const [field, change] of changed)
    it(`anotherTransaction_isRefused_${field}`, async function () {
      const account = await remoteAccount(server.url);
      answer = () => key.signTransaction({ ...TRANSACTION, ...change });
      const error = await rejection(account.signTransaction(TRANSACTION));
      expect(error).to.be.instanceOf(SignerError);
      expect(error.message).to.contain(`a transaction with another ${field}; it is not sent`);
    });

  it("anotherKey_isRefused", async function () {
    const account = await remoteAccount(server.url);
    answer = web3Signer(otherSecret);
    for (const signing of [
      account.signTransaction(TRANSACTION),
      account.signMessage({ message: "hello" }),
      account.signTypedData(TYPED),
    ])
      expect((await rejection(signing)).message).to.contain(`with the key of ${other.address}, not of ${key.address}`);
  });

  it("garbage_isRefused", async function () {
    const account = await remoteAccount(server.url);
    for (const garbage of [null, 7, "0x", "0x1234", `0x${"00".repeat(65)}`, { raw: "0x02c0" }, "hello", []]) {
      answer = () => Promise.resolve(garbage);
      expect(await rejection(account.signTransaction(TRANSACTION))).to.be.instanceOf(SignerError);
      expect(await rejection(account.signMessage({ message: "hello" }))).to.be.instanceOf(SignerError);
      expect(await rejection(remoteAccount(server.url))).to.be.instanceOf(SignerError);
    }
  });

  it("aSignerThatTakesTooLong_isUnavailable", async function () {
    let release = (): void => undefined;
    const late = new Promise<void>((resolve) => (release = resolve));
    answer = async (call) => {
      await late;
      return web3Signer(secret)(call);
    };
    const error = await rejection(remoteAccount(server.url, undefined, 100));
    release();
    expect(error).to.be.instanceOf(SignerUnavailableError);
    expect(error.message).to.match(/^eth_accounts: the signer .* does not do it \(no answer /);
  });

  it("silenceAndRefusal_areNamed_withoutThePathOfTheUrl", async function () {
    answer = () => Promise.reject(new Error("approval denied"));
    const refused = await rejection(remoteAccount(`${server.url}/t0ken`));
    expect(refused).to.be.instanceOf(SignerUnavailableError);
    expect(refused.message).to.match(
      /eth_accounts: the signer http:\/\/127.0.0.1:\d+ does not do it \(.*approval denied/,
    );
    expect(refused.message).to.not.contain("t0ken");
    const gone = await serveRpc({ request: () => Promise.reject(new Error("no chain")) });
    await gone.close();
    expect((await rejection(remoteAccount(gone.url))).message).to.contain("ECONNREFUSED");
    answer = web3Signer(secret);
    const held = await rejection(remoteAccount(server.url, other.address));
    expect(held.message).to.match(/does not hold 0x.*; it holds 0x/);
  });
});
