/** `refute-ml/abi`: the ABIs of the contracts, typed for viem. */
export { disputeGameAbi } from "../chain/abi/disputeGame.ts";
export { errorsAbi } from "../chain/abi/errors.ts";
export { jobMarketAbi } from "../chain/abi/jobMarket.ts";
export { provisioningAbi } from "../chain/abi/provisioning.ts";
export { stakeVaultAbi } from "../chain/abi/stakeVault.ts";
export { stepVerifierAbi } from "../chain/abi/stepVerifier.ts";
