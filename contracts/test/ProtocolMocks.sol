// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GasSchedule} from "../game/GasSchedule.sol";
import {KnownStep} from "../game/KnownStep.sol";
import {TensorTree} from "../merkle/TensorTree.sol";
import {Deployment} from "../interfaces/IMarketEvents.sol";
import {IStepVerifier, ChunkOpening} from "../interfaces/IStepVerifier.sol";
import {DeviceId} from "../types/Ids.sol";
import {SEMANTICS} from "../types/Semantics.sol";
import {IElementary} from "../verifier/IElementary.sol";

/// @notice A verifier that returns 1 for all elements, except in the known step used by a game's check.
contract OnesVerifier is IStepVerifier {
    function evaluate(
        bytes calldata body,
        uint256,
        bytes32[] calldata,
        ChunkOpening[] calldata
    ) external pure returns (uint256) {
        return keccak256(body) == keccak256(KnownStep.BODY) ? KnownStep.RESULT : 1;
    }

    function semantics() external pure returns (uint256) {
        return SEMANTICS;
    }
}

/// @notice A verifier with the same result word for every step.
contract ConstantVerifier is IStepVerifier {
    uint256 private immutable _semantics;
    uint256 private immutable _word;

    constructor(uint256 semantics_, uint256 word) {
        _semantics = semantics_;
        _word = word;
    }

    function evaluate(
        bytes calldata,
        uint256,
        bytes32[] calldata,
        ChunkOpening[] calldata
    ) external view returns (uint256) {
        return _word;
    }

    function semantics() external view returns (uint256) {
        return _semantics;
    }
}

/// @notice Elementary functions that give their argument.
contract WrongElementary is IElementary {
    function evaluate(uint256, uint256, uint256 a, uint256) external pure returns (uint256) {
        return a;
    }
}

/// @notice A market of a release to come.
contract FutureMarket {
    function deployment() external pure returns (Deployment memory d) {
        d.semantics = SEMANTICS + 1;
    }
}

/// @notice A provisioning contract where everybody counts live until barred.
contract OpenProvisioning {
    mapping(address worker => bool) public barred;

    function bar(address worker, bool isBarred) external {
        barred[worker] = isBarred;
    }

    function isLive(address worker) external view returns (bool) {
        return !barred[worker];
    }

    /// @notice A device for each worker.
    function deviceOf(address worker) external pure returns (DeviceId) {
        return DeviceId.wrap(keccak256(abi.encode(worker)));
    }
}

/// @notice Makes library functions callable.
contract ProtocolHarness {
    function parentOf(bytes calldata children) external view returns (bytes32) {
        return TensorTree.parentOf(children);
    }

    function tensorRoot(bytes calldata data) external view returns (bytes32) {
        return TensorTree.root(data);
    }

    function subtree(bytes calldata data, uint256 levels) external view returns (bytes32) {
        return TensorTree.subtree(data, levels);
    }

    /// @notice Returns the gas of a transaction with this call's calldata and `rest` more gas burnt.
    function calldataGas(bytes calldata, uint256 rest) external view returns (uint256) {
        return GasSchedule.transactionGas(gasleft() + rest);
    }

    /// @notice Returns the paid part of a move's gas if the move burns only its calldata and `rest`.
    function paidAtMost(uint256 most, uint256 rest) external view returns (uint256) {
        return GasSchedule.paid(most, gasleft() + rest);
    }

    function paid(uint256 gas) external view returns (uint256) {
        return GasSchedule.paid(gas);
    }
}
