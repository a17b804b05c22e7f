// What a User-Agent header says of who is visiting. Anybody can say anything in it.

import bowser from 'bowser';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';

export interface UserAgent {
  /** `Chrome`, `Edge`, `Googlebot`, `curl`; empty when it cannot be told, like all that follows. */
  name: string;
  version: string;
  /** `Windows`, `macOS`, `iOS`, `Android`, `Linux`. */
  os: string;
  osVersion: string;
  /** The model: `iPhone`. */
  device: string;
  /** Where bots explain themselves. */
  url: string;
  isMobile: boolean;
  isTablet: boolean;
  isDesktop: boolean;
  isBot: boolean;
}

/** Reading takes time by its length; nothing that is honest is longer. */
const LENGTH_MAX = 512;
const KEPT = 1000;

/** Names that policies know otherwise. */
const NAMES: Record<string, string> = { 'Microsoft Edge': 'Edge' };

const known = new LRUCache<string, UserAgent>({ max: KEPT });

/** Reads the value of a User-Agent header; only its first 512 characters count. Reading takes some 20 µs, once. */
export function readUserAgent(header: string): UserAgent {
  const text = header.slice(0, LENGTH_MAX);
  const found = known.get(text);
  if (found) return found;
  const agent = read(text);
  known.set(text, agent);
  return agent;
}

function read(text: string): UserAgent {
  const { browser, os, platform } = text === '' ? NOTHING : bowser.parse(text);
  const isKnown = browser.name && browser.name !== 'Mozilla'; // As everybody calls himself.
  const product = isKnown ? undefined : productOf(text);
  return {
    name: product?.name ?? NAMES[browser.name as string] ?? browser.name ?? '',
    version: product?.version ?? browser.version ?? '',
    os: os.name ?? '',
    osVersion: (os.versionName && os.name === 'Windows' ? os.versionName : os.version) ?? '',
    device: platform.model ?? '',
    url: /https?:\/\/[^\s;,)]+/.exec(text)?.[0] ?? '',
    isMobile: platform.type === 'mobile',
    isTablet: platform.type === 'tablet',
    isDesktop: platform.type === 'desktop',
    isBot: platform.type === 'bot' || isbot(text),
  };
}

const NOTHING: Pick<bowser.Parser.ParsedResult, 'browser' | 'os' | 'platform'> = { browser: {}, os: {}, platform: {} };

/** Tools and bots that nobody listed: `name/version`, behind `compatible;` where they play a browser. */
function productOf(text: string): { name: string; version: string } | undefined {
  const [, name, version = ''] = /(?:^(?!Mozilla)|compatible; ?)([\w.!-]+)(?:\/([\w.-]+))?/.exec(text) ?? [];
  return name === undefined ? undefined : { name, version };
}
