import { writeFileSync } from 'node:fs'; import { test } from 'vitest';
import {environmentOf} from '../../src/edge/cel/environment.ts';
import {vocabularyOf} from '../../src/edge/cel/variables/vocabulary.ts';
const out: any[] = []; const v=vocabularyOf('on_http_response','https');const e=environmentOf(v);
const sig=new Map();
for (const f of e.env.funcs){const n=(f.target?'.':'')+f.name;if(!/^\.?[a-z]/i.test(n))continue;const l=sig.get(n)??[];l.push((f.target?f.target+'.':'')+f.name+'('+f.arguments.map(String).join(',')+')->'+f.result);sig.set(n,l)}
out.push([...sig].sort().map(([n,l])=>n+'   '+l.join(' | ')).join('\n'));out.push(Object.entries(v.variables).map(([k,t])=>k+':'+t).join('\n'));out.push(v.missing)
writeFileSync('/tmp/w4/r-out.txt', out.map(x => typeof x === 'string' ? x : JSON.stringify(x, null, 1)).join('\n---\n')); test('x', () => {});
