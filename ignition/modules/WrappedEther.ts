import { buildModule } from "@nomicfoundation/ignition-core";

/** A stake asset for local chains. */
export const wrappedEtherModule = buildModule("WrappedEther", (m) => ({ asset: m.contract("WrappedEther") }));

export default wrappedEtherModule;
