import { buildModule } from "@nomicfoundation/ignition-core";

/** Deploys panels beside a market. Parameter: `market`. */
export const panelModule = buildModule("Panel", (m) => ({ panel: m.contract("Panel", [m.getParameter("market")]) }));

export default panelModule;
