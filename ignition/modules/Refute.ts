import { artifacts } from "hardhat";
import { marketModule } from "./market.ts";

/** The protocol as Hardhat has compiled it. */
export const refuteModule = marketModule((await artifacts.readArtifact("JobMarket")).bytecode);

export default refuteModule;
