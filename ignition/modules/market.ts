import { buildModule } from "@nomicfoundation/ignition-core";
import { DEFAULT_GRID_BLOCKS, DEFAULT_REPORT_LIFETIME, DEFAULT_SINK } from "../defaults.ts";
import { verifierModule } from "./Verifier.ts";

const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;

/**
 * Deploys the protocol against an existing stake asset, and a step verifier that is there or is deployed too.
 *
 * Parameters (all optional but `asset`, `verifier`, `manufacturers`): those of `Parameters` in
 * contracts/types/Parameters.sol, and `manufacturers` (1 to 32 ids, fixed for good), `gridBlocks`, `reportLifetime`
 * (seconds). The defaults are for L1 with the priceCap at 50 gwei; their arithmetic is in docs/protocol.md.
 * @param marketCode What the market is created with, without arguments.
 * @param newVerifier Whether the step verifier is deployed too, in place of the parameter `verifier`. It is part of
 * this module then, because a journal goes on only with the module that has all that is under way in it.
 */
export const marketModule = (marketCode: string, newVerifier = false) =>
  buildModule("Refute", (m) => {
    const provisioning = m.contract("Provisioning", [
      m.getParameter("manufacturers"),
      m.getParameter("gridBlocks", DEFAULT_GRID_BLOCKS),
      m.getParameter("reportLifetime", DEFAULT_REPORT_LIFETIME),
    ]);
    const parameters = {
      // One inclusion: 1.4e-7 that a transaction stays out for 30 minutes with 90 % of blocks censoring.
      baseWindow: m.getParameter("baseWindow", 1_800),
      maxWindow: m.getParameter("maxWindow", 86_400),
      // Six inclusions: 7.3e-9.
      baseClock: m.getParameter("baseClock", 3_600),
      // Longer than maxWindow + 2 * (baseClock + 2 * maxWork / rate) = 86,400 + 2 * (3,600 + 20,000) = 133,600.
      withdrawalDelay: m.getParameter("withdrawalDelay", 172_800),
      // 5 ns a term with every element in the exact fallback, and a margin of two.
      rate: m.getParameter("rate", 100_000_000n),
      maxWork: m.getParameter("maxWork", 1_000_000_000_000n),
      arityBits: m.getParameter("arityBits", 4),
      maxStepGas: m.getParameter("maxStepGas", 12_000_000),
      // Below the sequencers' pools of large rollups (95,000), so that programs move between networks.
      maxStepBytes: m.getParameter("maxStepBytes", 90_000),
      // The worst game costs a worker 1,183,900 gas by the schedule.
      bondGas: m.getParameter("bondGas", 1_250_000),
      priceCap: m.getParameter("priceCap", 50n * GWEI),
      bounty: m.getParameter("bounty", ETHER / 50n),
      // 20 bounties and twice the worst game of a challenger: 0.4 + 2 * 14.0 M * 50 gwei = 1.8.
      collateral: m.getParameter("collateral", (18n * ETHER) / 10n),
      penaltyBps: m.getParameter("penaltyBps", 500),
      sink: m.getParameter("sink", DEFAULT_SINK),
    };
    const checker = m.contract("ProofChecker", [
      newVerifier ? m.useModule(verifierModule).verifier : m.getParameter("verifier"),
    ]);
    const deployer = m.contract("MarketDeployer");
    // The vault and the game name the market, which is deployed after them at the address that is reserved for it.
    const address = m.staticCall(deployer, "reserved");
    const asset = m.getParameter("asset");
    const vault = m.contract("StakeVault", [asset, provisioning, parameters.withdrawalDelay, address]);
    const game = m.contract("DisputeGame", [address, checker, parameters]);
    const extension = m.contract("MarketExtension", [vault, game, parameters]);
    const deployed = m.call(deployer, "deploy", [marketCode, vault, game, extension, parameters]);
    const market = m.contractAt("JobMarket", address, { after: [deployed] });
    return { provisioning, checker, deployer, vault, game, extension, market };
  });
