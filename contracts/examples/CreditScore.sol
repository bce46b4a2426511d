// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {Delivery} from "../interfaces/IMarketEvents.sol";
import {Claim} from "../types/Job.sol";
import {Terms} from "../types/Terms.sol";

/// @title A dapp that takes credit scores as soon as they are proven.
/// @notice A registry says which figures are whose; a model makes a score of the figures; anybody brings the proven
/// claim.
/// @dev The dapp pins the pair of program and key: whoever posts a job chooses the job's key.
contract CreditScore {
    error NotRegistry(address caller);
    error OtherProgram(bytes32 programRoot);
    error UnknownFigures(bytes32 inputsRoot);
    error OtherOutput(uint32 output);

    event Scored(address indexed applicant, bytes score);

    IJobMarket public immutable market;
    bytes32 public immutable programRoot;
    bytes32 public immutable keyHash;
    address public immutable registry;

    /// @notice Whose figures have an inputs root.
    mapping(bytes32 inputsRoot => address) public applicantOf;
    /// @notice An applicant's score: a float32, little-endian; empty before the first.
    mapping(address applicant => bytes) public scoreOf;

    /// @param market_ The market.
    /// @param programRoot_ The model's program.
    /// @param keyHash_ The key for the program.
    /// @param registry_ Who knows applicants' figures.
    constructor(IJobMarket market_, bytes32 programRoot_, bytes32 keyHash_, address registry_) {
        (market, programRoot, keyHash, registry) = (market_, programRoot_, keyHash_, registry_);
    }

    /// @notice Says whose figures have an inputs root.
    /// @dev Reverts with `NotRegistry`.
    function enter(bytes32 inputsRoot, address applicant) external {
        require(msg.sender == registry, NotRegistry(msg.sender));
        applicantOf[inputsRoot] = applicant;
    }

    /// @notice Takes a proven score.
    /// @dev Reverts with `OtherProgram`, `UnknownFigures`, `OtherOutput`, and as the market's `requireProven`.
    /// @param claim The proven claim.
    /// @param terms The terms of the claim's job.
    /// @param delivery The score, and its opening.
    function take(Claim calldata claim, Terms calldata terms, Delivery calldata delivery) external {
        require(claim.job.programRoot == programRoot, OtherProgram(claim.job.programRoot));
        address applicant = applicantOf[claim.job.inputsRoot];
        require(applicant != address(0), UnknownFigures(claim.job.inputsRoot));
        require(delivery.output == 0, OtherOutput(delivery.output));
        market.requireProven(claim, terms, keyHash, delivery);
        scoreOf[applicant] = delivery.data;
        emit Scored(applicant, delivery.data);
    }
}
