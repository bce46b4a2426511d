// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @notice The cheat codes that the tests use.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    function prank(address sender) external;
    function prank(address sender, address origin) external;
    function warp(uint256 timestamp) external;
    function roll(uint256 blockNumber) external;
    function setBlockhash(uint256 blockNumber, bytes32 blockHash) external;
    function addr(uint256 privateKey) external pure returns (address);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function publicKeyP256(uint256 privateKey) external pure returns (uint256 x, uint256 y);
    function signP256(uint256 privateKey, bytes32 digest) external pure returns (bytes32 r, bytes32 s);
    function fee(uint256 baseFee) external;
    function txGasPrice(uint256 gasPrice) external;
    function getCode(string calldata name) external view returns (bytes memory);
    function recordLogs() external;
    function getRecordedLogs() external returns (Log[] memory);
}

Vm constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
