import { buildModule } from "@nomicfoundation/ignition-core";

/** Deploys exams beside a market's `Provisioning`. Parameters: `provisioning`, `classes`, `odds`, `spacing`. */
export const examsModule = buildModule("Exams", (m) => ({
  exams: m.contract("Exams", [
    m.getParameter("provisioning"),
    m.getParameter("classes"),
    m.getParameter("odds"),
    m.getParameter("spacing"),
  ]),
}));

export default examsModule;
