import { expect } from "chai";
import { BrowserProvider, Wallet as EthersKey } from "ethers";
import { createWalletClient, custom, parseEther, type WalletClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ContractRevertError, WalletRefusedError, WrongChainError } from "../../src/chain/errors.ts";
import { ethersWallet } from "../../src/chain/ethersWallet.ts";
import { viemWallet, type Wallet } from "../../src/chain/wallet.ts";
import { deposit } from "../../src/chain/market/deposit.ts";
import { openSession, type Session } from "../../src/chain/market/session.ts";
import { describeProgram } from "../../src/parties/requester/describeProgram.ts";
import { postJob } from "../../src/parties/requester/postJob.ts";
import { jobProgress } from "../../src/parties/requester/result.ts";
import { mlpInput, mlpProgram } from "../../testkit/models/mlp.ts";
import { usePlayers } from "../../testkit/players/usePlayers.ts";
import { rejection } from "../../testkit/rejection.ts";

describe("wallets that sign and send by themselves", function () {
  const players = usePlayers("suite");
  const fee = parseEther("0.1");

  const sessionWith = (account: Wallet): Promise<Session> => {
    const { transport, chainId, market } = players().chain;
    return openSession({ endpoint: { transport }, chainId, market, account });
  };
  const clientOf = async (): Promise<WalletClient> => {
    const { chain } = players();
    const account = privateKeyToAccount(await chain.newAccount(fee));
    return createWalletClient({ account, transport: custom(chain.provider) });
  };
  const postThrough = async (account: Wallet): Promise<string> => {
    const session = await sessionWith(account);
    await deposit(session, fee);
    const deadline = (await players().chain.now()) + 86_400n;
    const terms = { fee, window: 3_600, claimSeconds: 1_800, deadline };
    const { jobId, job } = await postJob(session, describeProgram(mlpProgram()), [mlpInput(1)], terms);
    expect(job.requester).to.equal(account.address);
    return (await jobProgress(session, jobId)).status;
  };

  it("viemsWalletClient_postsAJob", async function () {
    expect(await postThrough(await viemWallet(await clientOf()))).to.equal("open");
  });

  it("signerOfEthers_postsAJob", async function () {
    const { chain } = players();
    const key = await chain.newAccount(fee);
    const provider = new BrowserProvider(chain.provider, undefined, { cacheTimeout: -1 });
    expect(await postThrough(await ethersWallet(new EthersKey(key, provider)))).to.equal("open");
    provider.destroy();
    const lone = await rejection(ethersWallet(new EthersKey(key)));
    expect(lone).to.be.instanceOf(WalletRefusedError);
    expect(lone.message).to.contain("has no provider");
  });

  it("walletOfABrowser_isAskedForItsAccount", async function () {
    const asked: string[] = [];
    const [address] = (await players().chain.provider.request({ method: "eth_accounts" })) as [`0x${string}`];
    const request = (call: { method: string; params?: unknown[] }): Promise<unknown> => {
      asked.push(call.method);
      return call.method === "eth_requestAccounts"
        ? Promise.resolve([address])
        : players().chain.provider.request(call);
    };
    const wallet = await viemWallet(createWalletClient({ transport: custom({ request }) }));
    expect(wallet.address.toLowerCase()).to.equal(address.toLowerCase());
    const { asset, deployment } = await sessionWith(wallet);
    expect((await asset.approve(deployment.vault, 1n)).status).to.equal("success");
    expect(asked).to.include("eth_sendTransaction").and.not.include("eth_sign");
  });

  it("callThatWouldRevert_isRefusedBeforeTheWalletIsAsked", async function () {
    const wallet = await viemWallet(await clientOf());
    const send = (): Promise<never> => Promise.reject(new Error("it was asked"));
    const { vault } = await sessionWith({ ...wallet, send });
    const error = await rejection(vault.withdraw(10n ** 20n, wallet.address));
    expect(error).to.be.instanceOf(ContractRevertError).and.have.property("errorName", "InsufficientCredit");
  });

  it("userWhoRefuses_isReportedInOneLine_andTheNextCallGoesOn", async function () {
    const wallet = await viemWallet(await clientOf());
    let refusals = 1;
    const send: Wallet["send"] = (transaction) =>
      refusals-- > 0
        ? Promise.reject(Object.assign(new Error("user rejected action\nand more"), { code: "ACTION_REJECTED" }))
        : wallet.send(transaction);
    const { asset, deployment } = await sessionWith({ ...wallet, send });
    const error = await rejection(asset.approve(deployment.vault, 1n));
    expect(error).to.be.instanceOf(WalletRefusedError);
    expect(error.message).to.equal("approve: the wallet did not send it: user rejected action");
    expect((await asset.approve(deployment.vault, 1n)).status).to.equal("success");
  });

  it("walletOnAnotherChain_sendsNothing", async function () {
    const wallet = await viemWallet(await clientOf());
    const { asset, deployment } = await sessionWith({ ...wallet, chainId: () => Promise.resolve(1) });
    const error = await rejection(asset.approve(deployment.vault, 1n));
    expect(error).to.be.instanceOf(WrongChainError);
    expect(error.message).to.contain("the wallet is on chain 1");
  });
});
