// The README and the pages of the manual: links and tables are what they say.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { GraphQLInterfaceType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { errorTable } from '../../src/api/errors/error-table.ts';
import { schema } from '../../src/api/schema.ts';
import { readConfig } from '../../src/config/config.ts';
import { usableCores } from '../../src/config/usable-cores.ts';
import { root } from '../support/root.ts';
import { pages, read } from './pages.ts';

describe('links', () => {
  /** As GitHub makes anchors of headings. */
  const anchors = (page: string) =>
    [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!\w+:)([^)#]*)#?([^)]*)\)/g)].map(([, target = '', anchor = '']) => ({
      page,
      target: target === '' ? page : relative(root, join(root, dirname(page), target)),
      anchor,
    })),
  );

  test.each(links)('$page leads to $target $anchor', ({ target, anchor }) => {
    expect(existsSync(join(root, target))).toBe(true);
    if (anchor !== '') expect(anchors(target)).toContain(anchor);
  });

  test('every page of the manual is linked from the README', () => {
    const linked = links.filter(({ page }) => page === 'README.md').map(({ target }) => target);
    expect(pages.filter((page) => page.startsWith('src/manual/') && !linked.includes(page))).toEqual([]);
  });
});

describe('configuration', () => {
  const source = [
    'variables',
    'alert-variables',
    'cluster-variables',
    'certificate-variables',
    'figure-variables',
    'policy-variables',
    'sso-variables',
  ]
    .map((name) => readFileSync(join(root, `src/config/${name}.ts`), 'utf8'))
    .join('\n');
  const variables = [...source.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name = '']) => name);
  const table = read('src/manual/configuration.md');
  const rows = [...table.matchAll(/^\| (`[^|]*) \| ([^|]*)\| .* \|$/gm)].flatMap(([, names = '', defaults = '']) => {
    const all = [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => name);
    const each = defaults.trim().split(', ');
    return all.map((name, index) => ({
      name,
      said: (each.length === all.length ? each[index] : defaults.trim()) ?? '',
    }));
  });

  /** Defaults that the table gives in words. */
  const inWords: Record<string, unknown> = {
    '': undefined,
    none: [],
    empty: '',
    'the request’s own origin': undefined,
    'loopback names': ['localhost', '127.0.0.1', '[::1]'],
    'the embedded database': undefined,
    '`DATABASE_URL`': undefined,
    'LISTEN/NOTIFY of the database server': undefined,
    'made in `$DATA_DIR/server.key`': undefined,
    'made and printed': undefined,
    'the bound ports': 0,
    'the clouds’ own': {},
    'the system’s': [],
    'a quarter of `TCP_PORTS`': 250,
    'visitors are not forwarded': undefined,
    '1, and from 4 cores on `auto`': usableCores() < 4 ? 1 : usableCores(),
    '`NODE_ADDR`': undefined,
    'Let’s Encrypt': 'https://acme-v02.api.letsencrypt.org/directory',
    'the authority’s own': undefined,
    'the authority’s first choice': undefined,
    'no name server': undefined,
    'no e-mail': undefined,
    'no single sign-on': undefined,
    'all users may': undefined,
    'the first account': undefined,
    '`HOST`': undefined,
    '`ns1.` of each zone': undefined,
    'gateways share their counts': undefined,
  };
  const config = readConfig({}, root);
  const sso = readConfig({ SSO_ISSUER: 'https://id.example.com', SSO_CLIENT_ID: 'gateway' }, root).singleSignOn;
  const link = readConfig({ NODE_ADDR: 'gateway-1', DATABASE_URL: 'postgresql://localhost/gateway' }, root).nodeLink;
  const defaults: Record<string, unknown> = {
    ...config,
    // Times say their unit in the environment.
    ...Object.fromEntries(Object.entries(config).map(([name, value]) => [`${name}Ms`, value])),
    apiTlsCert: config.apiTls,
    apiTlsKey: config.apiTls,
    drainMs: config.drainMs,
    nodeLeaseMs: config.nodeLeaseMs,
    nodeAddr: config.nodeLink,
    nodePort: link?.remote?.port,
    nodeHost: config.nodeLink,
    linkHeartbeatMs: link?.heartbeatMs,
    linkToleranceMs: link?.toleranceMs,
    limitShareMs: link?.limitShareMs,
    limitsUrl: link?.limitsUrl,
    acmeEabKid: config.acmeEab,
    acmeEabHmacKey: config.acmeEab,
    ssoIssuer: config.singleSignOn,
    ssoClientId: config.singleSignOn,
    ssoClientSecret: sso?.clientSecret,
    ssoAccount: sso?.accountId,
    ssoName: sso?.name,
    ssoScopes: sso?.scopes,
    ssoGroupsClaim: sso?.groupsClaim,
    ssoAdminGroups: sso?.adminGroups,
    ssoMemberGroups: sso?.memberGroups,
    ssoTrustEmail: sso?.trustsEmail,
    ssoPasswordUser: sso?.passwordUser,
    smtpUrl: config.smtp,
    smtpFrom: config.smtp,
    dnsPort: config.nameServer,
    dnsHost: config.nameServer,
    dnsNameServers: config.nameServer,
    dnsServeBaseDomain: config.dnsServesBaseDomain,
    acmeApiTls: config.apiTls === 'obtained',
    tcpPorts: `${config.tcpPorts.first}-${config.tcpPorts.last}`,
    dataDir: relative(root, config.dataDir),
    versionHeaderAliases: config.versionHeaders.slice(1),
    serverKeyPrevious: config.previousServerKey,
    awsAccessKeyId: config.awsIdentity,
    awsSecretAccessKey: config.awsIdentity,
    awsSessionToken: config.awsIdentity,
    eventBacklogMb: config.eventBacklogBytes / 1024 ** 2,
    eventBufferMb: config.eventBufferBytes / 1024 ** 2,
    requestLogMb: config.requestLogBytes / 1024 ** 2,
    eventAuditHours: config.auditMaxAge / 3_600_000,
    eventTrafficHours: config.trafficMaxAge / 3_600_000,
  };

  test('every variable stands in the table once, and the table has no other', () => {
    expect(variables.length).toBeGreaterThan(20);
    expect(rows.map(({ name }) => name).sort()).toEqual([...variables].sort());
  });

  test.each(rows)('$name has the default $said', ({ name, said }) => {
    const member = name.toLowerCase().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    expect(Object.keys(defaults)).toContain(member);
    const value = defaults[member];
    const words = said.replace(/'/g, '’');
    const partOf =
      said === `\`${name.split('_')[0]?.toLowerCase()}.\` of \`BASE_DOMAIN\`` &&
      `${name.split('_')[0]?.toLowerCase()}.${config.baseDomain}`;
    if (partOf) expect(value).toBe(partOf);
    else if (words in inWords) expect(value).toEqual(inWords[words]);
    else expect(String(value)).toBe(said.replaceAll('`', ''));
  });
});

test('the table of errors is what the code has', () => {
  const rows = [
    ...read('src/manual/errors.md').matchAll(/^\| `ERR_GATEWAY_(\d+)` \| (\d+) \| (\w+) \| (.*) \|$/gm),
  ].map(([, number, status, code, says = '']) => [Number(number), Number(status), code, says.replaceAll('\\|', '|')]);
  expect(rows).toEqual(Object.values(errorTable).toSorted(([a], [b]) => a - b));
  expect(new Set(rows.map(([number]) => number)).size, 'every number stands for one error').toBe(rows.length);
});

test('the code’s own page has every layer of src', () => {
  const layers = readdirSync(join(root, 'src')).filter((name) => !['tools', 'README.md'].includes(name));
  expect(layers.filter((name) => !read('src/README.md').includes(`](${name})`))).toEqual([]);
});

test('every kind of object can be watched, as it says of subscriptions', () => {
  expect(read('src/manual/clients.md')).toContain('and its like for every kind of\n  object');
  const kinds = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType);
  // Of dead letters the delivery tells that has them, and of notifications their alert. Of requests `requestsLogged` and
  // `requestCaptured` do, of the audit trail `auditEntryAdded`; what users sign in with is theirs, and captures are asked for.
  const others = [
    ...['AlertNotification', 'LoggedRequest', 'CapturedRequest', 'AuditEntry'],
    ...['BrowserSession', 'Passkey', 'RunningCapture'],
  ];
  const told = kinds.map(({ name }) => name).filter((name) => !others.includes(name));
  const watched = told.map((name) => (name === 'EventDeadLetter' ? 'EventDelivery' : name));
  const expected = watched.map((name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}Changed`);
  // And endpoints, online and offline, all kinds together, and what passes by.
  expected.push(
    'anyEndpointChanged',
    'changes',
    'requestCaptured',
    'requestsLogged',
    'certificateProvisioningChanged',
    'auditEntryAdded',
  );
  expect(Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).sort()).toEqual(expected.sort());
});
