// Requests as programs in five languages: what `/docs` shows beside each operation. They take the API key and the ids of the path from
// the environment, so each runs as it stands, with nothing installed but its language.

/** A request that a sample makes. */
export interface SampleRequest {
  method: string;
  /** The address of the API, without a slash at its end. */
  baseUrl: string;
  /** With parameters in braces, as in `/credentials/{id}`. */
  path: string;
  /** Headers but for the key. */
  headers: Record<string, string>;
  needsKey: boolean;
  /** Undefined where none is sent. */
  body: unknown;
}

/** As the extension `x-codeSamples` of OpenAPI has it. */
export interface CodeSample {
  lang: string;
  label: string;
  source: string;
}

const LANGUAGES: readonly [lang: string, label: string, write: (request: SampleRequest) => string][] = [
  ['bash', 'curl', curl],
  ['go', 'Go', go],
  ['python', 'Python', python],
  ['ruby', 'Ruby', ruby],
  ['javascript', 'TypeScript', typescript],
];

/** The request in all five languages. */
export function codeSamples(request: SampleRequest): CodeSample[] {
  return LANGUAGES.map(([lang, label, write]) => ({ lang, label, source: write(request) }));
}

/** The name of the variable of the environment that a parameter of a path is read from. */
function environmentName(parameter: string): string {
  return parameter.toUpperCase();
}

function curl({ method, baseUrl, path, headers, needsKey, body }: SampleRequest): string {
  const lines = [
    `curl -fsS${method === 'GET' ? '' : ` -X ${method}`} "${withVariables(baseUrl + path, (name) => `$${name}`)}"`,
    ...(needsKey ? ['-H "Authorization: Bearer $API_KEY"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${inShell(JSON.stringify(body, null, 2))}`]),
  ];
  return lines.join(' \\\n  ');
}

function go({ method, baseUrl, path, headers, needsKey, body }: SampleRequest): string {
  const url = withVariables(JSON.stringify(baseUrl + path), (name) => `"+os.Getenv("${name}")+"`);
  const hasVariables = needsKey || path.includes('{');
  const packages = [
    'fmt',
    'io',
    'net/http',
    ...(hasVariables ? ['os'] : []),
    ...(body === undefined ? [] : ['strings']),
  ];
  const text = body === undefined ? '' : indented(JSON.stringify(body, null, 2), '\t');
  const sent =
    body === undefined ? 'nil' : `strings.NewReader(${text.includes('`') ? JSON.stringify(text) : `\`${text}\``})`;
  const all = Object.entries(headers).map(([name, value]) => [name, JSON.stringify(value)]);
  if (needsKey) all.unshift(['Authorization', '"Bearer "+os.Getenv("API_KEY")']);
  return `package main

import (
${packages.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
	request, err := http.NewRequest("${method}", ${url.replace(/\+""$/, '')}, ${sent})
	if err != nil {
		panic(err)
	}
${all.map(([name, value]) => `\trequest.Header.Set("${name}", ${value})\n`).join('')}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	if response.StatusCode >= 400 {
		panic(response.Status + ": " + string(answer))
	}
	fmt.Println(string(answer))
}
`;
}

function python({ method, baseUrl, path, headers, needsKey, body }: SampleRequest): string {
  const hasVariables = path.includes('{');
  const url = `${hasVariables ? 'f' : ''}"${withVariables(baseUrl + path, (name) => `{os.environ['${name}']}`)}"`;
  const all = Object.entries(headers).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  if (needsKey) all.unshift(`"Authorization": f"Bearer {os.environ['API_KEY']}"`);
  const modules = [
    ...(body === undefined ? [] : ['json']),
    ...(needsKey || hasVariables ? ['os'] : []),
    'urllib.request',
  ];
  const literal = body === undefined ? '' : literalOf(body, { null: 'None', true: 'True', false: 'False', of: ': ' });
  return `${modules.map((name) => `import ${name}\n`).join('')}
request = urllib.request.Request(
    ${url},
    method="${method}",
    headers={${all.map((header) => `\n        ${header},`).join('')}${all.length > 0 ? '\n    ' : ''}},
${body === undefined ? '' : `    data=json.dumps(${literal}).encode(),\n`})
with urllib.request.urlopen(request) as response:
    print(response.read().decode())
`;
}

function ruby({ method, baseUrl, path, headers, needsKey, body }: SampleRequest): string {
  const kind = `${method[0]}${method.slice(1).toLowerCase()}`;
  const url = withVariables(baseUrl + path, (name) => `#{ENV.fetch('${name}')}`);
  const all = Object.entries(headers).map(([name, value]) => [name, JSON.stringify(value)]);
  if (needsKey) all.unshift(['Authorization', `"Bearer #{ENV.fetch('API_KEY')}"`]);
  const literal = body === undefined ? '' : literalOf(body, { null: 'nil', true: 'true', false: 'false', of: ' => ' });
  return `${body === undefined ? '' : 'require "json"\n'}require "net/http"

uri = URI("${url}")
request = Net::HTTP::${kind}.new(uri)
${all.map(([name, value]) => `request["${name}"] = ${value}\n`).join('')}${body === undefined ? '' : `request.body = JSON.generate(${literal})\n`}response = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }
response.value # Raises unless it is a success.
puts response.body
`;
}

function typescript({ method, baseUrl, path, headers, needsKey, body }: SampleRequest): string {
  const url = withVariables(baseUrl + path, (name) => `\${env.${name}}`);
  const all = Object.entries(headers).map(([name, value]) => `'${name}': '${value}'`);
  if (needsKey) all.unshift(`Authorization: \`Bearer \${env.API_KEY}\``);
  const sent = body === undefined ? '' : `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')}),\n`;
  const isPlain = !needsKey && !path.includes('{');
  return `${isPlain ? '' : "import { env } from 'node:process';\n\n"}const response = await fetch(\`${url}\`, {
  method: '${method}',
  headers: {${all.map((header) => `\n    ${header},`).join('')}${all.length > 0 ? '\n  ' : ''}},
${sent}});
if (!response.ok) throw new Error(await response.text());
console.log(await response.text());
`;
}

function withVariables(url: string, write: (name: string) => string): string {
  return url.replace(/\{(\w+)\}/g, (_, parameter: string) => write(environmentName(parameter)));
}

function inShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** All lines but the first. */
function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}

interface Literals {
  null: string;
  true: string;
  false: string;
  /** Between a key and its value. */
  of: string;
}

/** A JSON value as Python and Ruby write it; their strings have JSON's escapes. Ruby would fill in `#{}`. */
function literalOf(value: unknown, literals: Literals): string {
  if (value === null) return literals.null;
  if (typeof value === 'boolean') return value ? literals.true : literals.false;
  if (Array.isArray(value)) return `[${value.map((item) => literalOf(item, literals)).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value).replaceAll('#', '\\u0023');
  const members = Object.entries(value).map(
    ([name, member]) => JSON.stringify(name) + literals.of + literalOf(member, literals),
  );
  return `{${members.join(', ')}}`;
}
