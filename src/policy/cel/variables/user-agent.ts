// Parses the User-Agent header. Clients can send any value.

import bowser from 'bowser';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';

/** A parsed header. A part is empty when it is unknown. */
export interface UserAgent {
  /** The browser, bot or tool: `Chrome`, `Edge`, `Googlebot`, `curl`. */
  name: string;
  version: string;
  /** The operating system: `Windows`, `macOS`, `iOS`, `Android`, `Linux`. */
  os: string;
  osVersion: string;
  /** The model of the device: `iPhone`. */
  device: string;
  /** The page on which a bot explains itself. */
  url: string;
  isMobile: boolean;
  isTablet: boolean;
  isDesktop: boolean;
  isBot: boolean;
}

/** The most characters that are parsed, as parsing takes time. Real headers are shorter. */
const LENGTH_MAX = 512;
/** The most cached headers. */
const CACHED_MAX = 1000;

/** The names of browsers that policies call differently. */
const NAMES: Record<string, string> = { 'Microsoft Edge': 'Edge' };

const known = new LRUCache<string, UserAgent>({ max: CACHED_MAX });

/** Parses a User-Agent header, of which only the first 512 characters count. It takes about 20 µs; results are cached. */
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
  const isKnown = browser.name && browser.name !== 'Mozilla'; // Nearly every client calls itself Mozilla.
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

/** The product of an unlisted tool or bot: `name/version`, after `compatible;` when it imitates a browser. */
function productOf(text: string): { name: string; version: string } | undefined {
  const [, name, version = ''] = /(?:^(?!Mozilla)|compatible; ?)([\w.!-]+)(?:\/([\w.-]+))?/.exec(text) ?? [];
  return name === undefined ? undefined : { name, version };
}
