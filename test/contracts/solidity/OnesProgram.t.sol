// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {States} from "../../../contracts/game/States.sol";
import {GameState, PackedState, Pick, StepProof} from "../../../contracts/types/GameState.sol";
import {Job} from "../../../contracts/types/Job.sol";
import {Parameters} from "../../../contracts/types/Parameters.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {vm} from "./Vm.sol";

/// @notice A program that can be judged without a model: one step of 2,048 bytes, each of which should be 1. Its
/// outputs are that step, a tensor of twice the size which is never delivered, and that step again.
abstract contract OnesProgram {
    uint256 internal constant CLOCK = 3_600;
    uint256 internal constant OUTPUTS = 3;
    address public constant SINK = address(0xdead);

    /// @dev From calldata, as the game reads it.
    function unpack(PackedState calldata packed) external pure returns (GameState memory) {
        return States.unpack(packed);
    }

    function program() public pure virtual returns (ProgramFacts memory facts) {
        facts.header = abi.encodePacked(uint16(2), uint32(1_000_000), uint32(90_000), uint64(2_048), uint32(1));
        facts.header = abi.encodePacked(facts.header, uint32(1), uint16(0), uint16(OUTPUTS));
        facts.header = abi.encodePacked(facts.header, uint32(0), uint8(2), uint64(2_048), uint8(0));
        facts.header = abi.encodePacked(facts.header, uint32(0), uint8(2), uint64(4_096), uint8(0));
        facts.header = abi.encodePacked(facts.header, uint32(0), uint8(2), uint64(2_048), uint8(0));
        facts.stepsRoot = sha256(abi.encodePacked(bytes1(0), uint8(2), uint64(2_048), sha256(hex"00")));
        facts.checkpointsRoot = sha256(abi.encodePacked(bytes1(0), uint32(0), uint32(0)));
    }

    /// @notice What a claim's list is, as it is submitted: the trace root, or all outputs of an answer, which are one
    /// tensor.
    function nodesOf(Job memory job, bool lie) public pure returns (bytes memory) {
        bytes32 root = tensorRoot(lie);
        return job.answers == 0 ? abi.encodePacked(root) : abi.encodePacked(root, root, root, bytes32(0));
    }

    function claimRoot(Job memory job, bool lie) public pure returns (bytes32) {
        bytes32 root = tensorRoot(lie);
        if (job.answers == 0) return root;
        bytes32 left = sha256(abi.encodePacked(root, root));
        return sha256(abi.encodePacked(left, sha256(abi.encodePacked(root, bytes32(0)))));
    }

    function tensorRoot(bool lie) public pure returns (bytes32) {
        bytes32 leaf = sha256(_chunk(lie));
        bytes32 pair = sha256(abi.encodePacked(leaf, leaf));
        return sha256(abi.encodePacked(pair, pair));
    }

    /// @dev The next call is a plain account's transaction.
    function _prankAs(address account) internal {
        vm.prank(account, account);
    }

    /// @dev From output `k` to the claim's root.
    function _pathOf(Job memory job, uint256 k, bool lie) internal pure returns (bytes32[] memory path) {
        if (job.answers == 0) return path;
        bytes32 root = tensorRoot(lie);
        path = new bytes32[](2);
        path[0] = k == 2 ? bytes32(0) : root;
        path[1] = sha256(abi.encodePacked(root, k == 2 ? root : bytes32(0)));
    }

    function _openingOf(Job memory job, bool lie) internal pure returns (Pick memory pick) {
        pick.node = tensorRoot(lie);
        pick.siblings = _pathOf(job, 0, lie);
        pick.program = program();
        pick.step.dtype = 2;
        pick.step.count = 2_048;
        pick.step.bodyHash = sha256(hex"00");
    }

    function _revealOf(GameState memory s, bool lie) internal pure returns (bytes memory) {
        bytes32 l = sha256(_chunk(lie));
        return s.depth == 0 ? _chunk(lie) : abi.encodePacked(l, l, l, l);
    }

    function _pickOf(bool lie, uint8 leaf) internal pure returns (Pick memory pick) {
        bytes32 l = sha256(_chunk(lie));
        pick.index = leaf % 4;
        pick.node = l;
        pick.siblings = new bytes32[](2);
        pick.siblings[0] = l;
        pick.siblings[1] = sha256(abi.encodePacked(l, l));
    }

    /// @dev That the first element below a game's node is wrong.
    function _proofOf(GameState memory s, bool lie) internal pure returns (StepProof memory proof) {
        proof.pick.program = program();
        proof.pick.step.dtype = 2;
        proof.pick.step.count = 2_048;
        proof.pick.step.bodyHash = sha256(hex"00");
        proof.body = hex"00";
        proof.element = uint64(512 * (uint256(s.index) << s.depth));
        proof.chunk = _chunk(lie);
        if (s.depth == 2) proof.chunkSiblings = _pickOf(lie, 0).siblings;
    }

    function _chunk(bool lie) internal pure returns (bytes memory chunk) {
        bytes32 word =
            lie
                ? bytes32(0x0202020202020202020202020202020202020202020202020202020202020202)
                : bytes32(0x0101010101010101010101010101010101010101010101010101010101010101);
        chunk = abi.encodePacked(word, word, word, word);
        chunk = abi.encodePacked(chunk, chunk, chunk, chunk);
    }

    function _tensor(bool lie) internal pure returns (bytes memory) {
        bytes memory chunk = _chunk(lie);
        return abi.encodePacked(chunk, chunk, chunk, chunk);
    }

    function _parameters() internal pure virtual returns (Parameters memory) {
        return
            Parameters({
                baseWindow: 1_800,
                maxWindow: 86_400,
                baseClock: uint32(CLOCK),
                withdrawalDelay: 172_800,
                rate: 100_000_000,
                maxWork: 1_000_000_000_000,
                arityBits: 4,
                maxStepGas: 12_000_000,
                maxStepBytes: 90_000,
                bondGas: 1_250_000,
                priceCap: 50 gwei,
                bounty: 0.02 ether,
                collateral: 1.8 ether,
                penaltyBps: 500,
                sink: SINK
            });
    }
}
