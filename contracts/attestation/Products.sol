// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Manufacturers} from "./Manufacturers.sol";

/// @title Facts that many devices share: manufacturer, model and firmware. The chain stores each combination once, and
/// a device's record refers to it by number to save words.
abstract contract Products is Manufacturers {
    using SafeCast for uint256;

    struct Product {
        bytes32 manufacturer;
        bytes32 model;
        bytes32 firmware;
    }

    /// @dev Product 0 is none.
    mapping(uint256 number => Product) private _products;
    mapping(bytes32 product => uint32 number) private _numbers;
    uint32 private _count;

    /// @dev Returns a product's number. The product's first device causes the number to be assigned. Reverts with
    /// `ManufacturerNotTrusted`.
    function _numberOf(bytes32 manufacturer, bytes32 model, bytes32 firmware) internal returns (uint32 number) {
        bytes32 key = keccak256(abi.encode(manufacturer, model, firmware));
        number = _numbers[key];
        // Each numbered product has a permanently trusted manufacturer.
        if (number != 0) return number;
        _requireTrusted(manufacturer);
        number = (uint256(_count) + 1).toUint32();
        _count = number;
        _numbers[key] = number;
        _products[number] = Product(manufacturer, model, firmware);
    }

    function _product(uint256 number) internal view returns (Product storage) {
        return _products[number];
    }
}
