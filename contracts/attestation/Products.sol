// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Manufacturers} from "./Manufacturers.sol";

/// @title What many devices have in common: manufacturer, model and firmware. Kept once, so that a device's record
/// names it by a number and fits fewer words.
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

    /// @dev The number of a product, which it gets by its first device. Reverts with `ManufacturerNotTrusted`.
    function _numberOf(bytes32 manufacturer, bytes32 model, bytes32 firmware) internal returns (uint32 number) {
        bytes32 key = keccak256(abi.encode(manufacturer, model, firmware));
        number = _numbers[key];
        // What has a number has a manufacturer that is trusted for good.
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
