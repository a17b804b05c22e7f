// What name a client may reserve, and how it is stored: lower case, A-labels (RFC 5890).

import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import { lazyPackage } from '../../../runtime/lazy-package.ts';
import { isWithin } from '../../../store/domains/dns-names.ts';
import { ApiError, type ErrorName, type ErrorParameters } from '../../errors/errors.ts';
import type { ApiSettings } from '../../settings.ts';

const tldts = lazyPackage<typeof import('tldts')>('tldts');

const NAME_MAX_BYTES = 253;
const LABEL_MAX_BYTES = 63;

export interface DomainName {
  /** As it is shown: as it was written, without blanks around it and a dot at its end. Of one in another script it is `domain`. */
  shown: string;
  /** As it is stored: a wildcard begins with `*.`. */
  domain: string;
  /** The domain without its `*.`: all below it belongs to whoever reserves it. */
  root: string;
  isWildcard: boolean;
  /** Whether the gateway itself gives the name: it is below the base domain. */
  isOurs: boolean;
}

type Zones = Pick<ApiSettings, 'baseDomain' | 'cnameDomain' | 'acmeDomain' | 'ownNames'>;

/** @throws {ApiError} saying what is wrong with the name. */
export function readDomainName(given: string, zones: Zones): DomainName {
  const text = given.trim().replace(/\.$/, '');
  if (text === '') throw refused('domainMissing');
  const isWildcard = text.startsWith('*.');
  const root = toAscii(isWildcard ? text.slice(2) : text);
  const domain = isWildcard ? `*.${root}` : root;
  if (domain.length > NAME_MAX_BYTES) throw refused('domainTooLong');
  checkLabels(root);
  const isOurs = checkZone(root, isWildcard, zones);
  // A wildcard may cover such a name: it does not lead to it.
  if (zones.ownNames.has(domain)) throw refused('gatewayName', { domain });
  const shown = text.toLowerCase() === domain ? text : domain;
  return { shown, domain, root, isWildcard, isOurs };
}

/** IDNA, as browsers do it. The characters are checked first: `domainToASCII` reads its input like a part of a URL. */
function toAscii(text: string): string {
  if (text.includes('*')) throw refused('wildcardPlace');
  if (text.length > NAME_MAX_BYTES) throw refused('domainTooLong');
  if (isIP(text)) throw refused('domainIsAddress');
  if (text.includes('_')) throw refused('domainUnderscore');
  if (/[^a-z0-9.-]/i.test(text.replace(/\P{ASCII}/gu, ''))) throw refused('domainCharacter');
  const lower = text.toLowerCase();
  if (!/\P{ASCII}|xn--/u.test(lower)) return lower;
  const ascii = domainToASCII(lower);
  if (ascii === '' || !isPunycode(ascii)) throw refused('domainNotIdna');
  if (isIP(ascii)) throw refused('domainIsAddress'); // Digits of other scripts become ours.
  return ascii;
}

/** Whether its A-labels stand for something, and are written as they should be (RFC 5891, 5.4). Node from 22 on does not ask. */
function isPunycode(ascii: string): boolean {
  const unicode = domainToUnicode(ascii);
  return !/(^|\.)xn--/.test(unicode) && domainToASCII(unicode) === ascii;
}

function checkLabels(root: string): void {
  const labels = root.split('.');
  for (const label of labels) {
    if (label === '') throw refused('domainEmptyLabel');
    if (label.length > LABEL_MAX_BYTES) throw refused('domainLabelTooLong');
    if (label.startsWith('-') || label.endsWith('-')) throw refused('domainLabelEdge');
    if (label.slice(2, 4) === '--' && !label.startsWith('xn--')) throw refused('domainHyphens');
  }
  if (labels.length < 2) throw refused('domainNotQualified');
}

/** @returns whether the name is below the base domain; every other name must be one that can be registered. */
function checkZone(root: string, isWildcard: boolean, { baseDomain, cnameDomain, acmeDomain }: Zones): boolean {
  if (isWildcard && isWithin(baseDomain, root)) throw refused('wildcardOverBase');
  if (root === baseDomain) throw refused('baseDomain');
  for (const zone of [cnameDomain, acmeDomain]) {
    if (isWithin(root, zone) && !isWithin(baseDomain, zone)) throw refused('gatewayDomain', { zone });
  }
  if (isWithin(root, baseDomain)) return true;

  const { isIcann, publicSuffix, domain } = tldts().parse(root);
  if (!isIcann) throw refused('domainNotPublic', { tld: root.slice(root.lastIndexOf('.') + 1) });
  if (domain === null) throw refused('domainIsSuffix', { suffix: publicSuffix ?? root });
  return false;
}

function refused(error: ErrorName, parameters: ErrorParameters = {}): ApiError {
  return new ApiError(error, { member: 'domain', ...parameters });
}
