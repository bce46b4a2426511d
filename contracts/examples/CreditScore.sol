// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {Delivery} from "../interfaces/IMarketEvents.sol";
import {Claim} from "../types/Job.sol";
import {Terms} from "../types/Terms.sol";

/// @title A dapp that takes credit scores as soon as they are proven.
/// @notice A registry says what an applicant's figures are; a model makes a score of the figures; anybody brings the
/// proven claim.
/// @dev The dapp pins the key, because whoever posts a job chooses the job's key; the market pairs a key with the key's
/// program alone. A claim's age does not matter: the score of some figures is always the same. What grows old are
/// figures, so a claim counts only about the applicant's figures of now.
contract CreditScore {
    error NotRegistry(address caller);
    error OtherFigures(bytes32 expected, bytes32 inputsRoot);
    error OtherOutput(uint32 output);

    event Scored(address indexed applicant, bytes score);

    IJobMarket public immutable market;
    bytes32 public immutable keyHash;
    address public immutable registry;

    /// @notice The inputs root of an applicant's figures; zero: none.
    mapping(address applicant => bytes32) public figuresOf;
    /// @notice The score of an applicant's figures: a float32, little-endian; empty before it is proven.
    mapping(address applicant => bytes) public scoreOf;

    /// @param market_ The market.
    /// @param keyHash_ The key for the model.
    /// @param registry_ Who knows applicants' figures.
    constructor(IJobMarket market_, bytes32 keyHash_, address registry_) {
        (market, keyHash, registry) = (market_, keyHash_, registry_);
    }

    /// @notice Says what an applicant's figures are from now on. The score of the figures before is gone.
    /// @dev Reverts with `NotRegistry`.
    /// @param applicant The applicant.
    /// @param inputsRoot The inputs root of the figures; zero: none.
    function enter(address applicant, bytes32 inputsRoot) external {
        require(msg.sender == registry, NotRegistry(msg.sender));
        figuresOf[applicant] = inputsRoot;
        delete scoreOf[applicant];
    }

    /// @notice Takes a proven score.
    /// @dev Reverts with `OtherFigures`, `OtherOutput`, and as the market's `requireProven`.
    /// @param applicant Whose score it is.
    /// @param claim The proven claim.
    /// @param terms The terms of the claim's job.
    /// @param delivery The score, and its opening.
    function take(address applicant, Claim calldata claim, Terms calldata terms, Delivery calldata delivery) external {
        bytes32 figures = figuresOf[applicant];
        // A program without inputs has the inputs root zero: no applicant's.
        require(figures != 0 && figures == claim.job.inputsRoot, OtherFigures(figures, claim.job.inputsRoot));
        require(delivery.output == 0, OtherOutput(delivery.output));
        market.requireProven(claim, terms, keyHash, delivery);
        scoreOf[applicant] = delivery.data;
        emit Scored(applicant, delivery.data);
    }
}
