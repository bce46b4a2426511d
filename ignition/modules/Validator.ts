import { buildModule } from "@nomicfoundation/ignition-core";

/** Deploys a validator of claims. Parameters: `registry` (ERC-8004's validation registry), `claims`. */
export const validatorModule = buildModule("Validator", (m) => ({
  validator: m.contract("RefuteValidator", [m.getParameter("registry"), m.getParameter("claims")]),
}));

export default validatorModule;
