import { buildModule } from "@nomicfoundation/ignition-core";
import { DEFAULT_TDX_GRACE } from "../defaults.ts";

/** The key of "Intel SGX Root CA", valid from 2018 to 2049, and keccak256 of its name as DER. */
const INTEL_ROOT = {
  x: "0x0ba9c4c0c0c86193a3fe23d6b02cda10a8bbd4e88e48b4458561a36e705525f5",
  y: "0x67918e2edc88e40d860bd0cc4ee26aacc988e505a953558c453f6b0904ae7394",
  name: "0x3112c8e9428b5c08824e727e3ea896f3597c8a91caeafe57d64a4bc08df71dfb",
};

/**
 * Deploys a verifier of quotes of Intel TDX. Its address, as a number of 32 bytes, is a manufacturer of the deployments
 * that take such machines. Nobody owns it: one deployment serves many markets. `refute deploy tdx` deploys it.
 *
 * Parameters: `root` (x and y of the key, and the hash of the name, of Intel's root), `grace` (seconds).
 */
export const tdxModule = buildModule("Tdx", (m) => {
  const reader = m.contract("TdxReader");
  const grace = m.getParameter("grace", DEFAULT_TDX_GRACE);
  const verifier = m.contract("TdxQuoteVerifier", [m.getParameter("root", INTEL_ROOT), reader, grace]);
  return { reader, verifier };
});

export default tdxModule;
