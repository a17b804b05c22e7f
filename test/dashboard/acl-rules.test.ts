// The form of a credential splits ACL rules into parts and joins them again. The gateway has to read the same rules.

import { expect, test } from 'vitest';
import { aclText, lineToRule, ruleToLine } from '../../src/dashboard/screens/credentials/acl-rules.ts';
import { agentCommand } from '../../src/dashboard/screens/credentials/agent-command.ts';
import { parseAclRule } from '../../src/tunnel/control/acl.ts';

test.each([
  '*',
  'bind:*',
  'bind:app.example.com',
  'bind:*.example.com',
  'bind:1.example.com:20000',
  'bind:key=value',
  'bind:*=value',
  'bind:key=*',
  'bind:key=a=b',
  'bind:a.b=c:1/d',
])('the form splits %s and joins it to the same rule', (rule) => {
  expect(parseAclRule(lineToRule(ruleToLine(rule)) ?? '')).toEqual(parseAclRule(rule));
});

test.each([
  [{ kind: 'name', first: ' https://app.example.com/path ', second: '' }, 'bind:app.example.com'],
  [{ kind: 'name', first: 'bind:app.example.com', second: '' }, 'bind:app.example.com'],
  [{ kind: 'below', first: '*.example.com', second: '' }, 'bind:*.example.com'],
] as const)('pasted text such as %o becomes a rule', (line, rule) => {
  expect(lineToRule(line)).toBe(rule);
});

test.each([
  { kind: 'name', first: ' ', second: '' },
  { kind: 'address', first: 'example.com', second: '' },
  { kind: 'label', first: '', second: 'value' },
] as const)('%o is an unfinished rule', (line) => {
  expect(lineToRule(line)).toBeNull();
});

test.each([
  [[], 'everything'],
  [['bind:app.example.com', '*'], 'everything'],
  [['bind:app.example.com', 'bind:key=value'], 'app.example.com, key=value'],
])('the summary of %o is: %s', (acl, text) => {
  expect(aclText(acl)).toBe(text);
});

test.each([
  [[], 'http 3000'],
  [['bind:app.example.com', '*'], 'http 3000'],
  [['bind:app.example.com'], 'http 3000 --domain app.example.com'],
  [['bind:*.example.com'], 'http 3000 --domain app.example.com'],
  [['bind:1.example.com:20000'], 'tcp 3000 --port 20000'],
  [['bind:app=*'], 'labels 3000 --label app=web'],
  [["bind:app=o'ne two"], "labels 3000 --label 'app=o'\\''ne two'"],
])('the command of an agent that may bind %o is: %s', (acl, command) => {
  expect(agentCommand(acl)).toBe(command);
});
