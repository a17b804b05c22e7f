// Example policies.

interface Example {
  title: string;
  text: string;
}

const https: readonly Example[] = [
  {
    title: 'Hide the admin pages from outside',
    text: `on_http_request:
  - name: nobody needs the admin pages from outside
    expressions:
      - "req.url.path.startsWith('/admin')"
      - "!conn.client_ip.isPrivateIp()"
    actions:
      - type: deny
        config:
          status_code: 404
`,
  },
  {
    title: 'Limit how often a visitor may ask',
    text: `on_http_request:
  - name: a hundred requests a minute for each address
    actions:
      - type: rate-limit
        config:
          name: by address
          algorithm: sliding_window
          capacity: 100
          rate: 1m
          bucket_key:
            - conn.client_ip
`,
  },
  {
    title: 'Add a header field to every answer',
    text: `on_http_response:
  - actions:
      - type: add-headers
        config:
          headers:
            x-served-by: "\${endpoint.host}"
`,
  },
];

const tls: readonly Example[] = [
  {
    title: 'Let in one network only',
    text: `on_tcp_connect:
  - name: the office
    actions:
      - type: restrict-ips
        config:
          allow:
            - 192.0.2.0/24
`,
  },
];

export const examples = { https, tls };
