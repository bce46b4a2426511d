// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Reports which classes workers hold: capabilities that each worker has demonstrated.
interface IClasses {
    /// @notice Whether a worker holds a class now.
    /// @param worker The worker.
    /// @param class The class.
    /// @return Whether it does.
    function classHeld(address worker, uint8 class) external view returns (bool);
}
