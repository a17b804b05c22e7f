// The codes of errors, which programs compare.

import { FOREIGN_ERROR_PREFIX } from '../../tunnel/control/compatibility.ts';
import type { Dialect } from '../route.ts';

const PREFIX = 'ERR_GATEWAY_';
/** Numbers from here on are ours. Those below are the original service's: an error has the number that it has there. */
const FIRST_OWN_NUMBER = 90_000;

/** The prefix of a number: clients written for the original service compare whole codes, so that they get its own. */
export function errorPrefix(number: number, dialect: Dialect): string {
  return dialect === 'extended' && number < FIRST_OWN_NUMBER ? FOREIGN_ERROR_PREFIX : PREFIX;
}

/** @param number as in the error table. */
export function errorCode(number: number, dialect: Dialect): string {
  return `${errorPrefix(number, dialect)}${number}`;
}
