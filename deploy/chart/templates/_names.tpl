{{- define "bothost.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- end }}

{{- define "bothost.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bothost.labels" -}}
{{ include "bothost.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "bothost.keys" -}}
{{ .Values.keysSecret | default (printf "%s-keys" (include "bothost.name" .)) }}
{{- end }}

{{- define "bothost.botNamespace" -}}
{{ .Values.bots.namespace | default .Release.Namespace }}
{{- end }}

{{- define "bothost.settings" -}}
{{- $name := include "bothost.name" . }}
BOTHOST_RUNTIME: kubernetes
BOTHOST_HOST: 0.0.0.0
BOTHOST_PUBLIC_URL: {{ required "publicUrl is required: --set publicUrl=https://bots.example.com" .Values.publicUrl }}
BOTHOST_INTERNAL_URL: http://{{ $name }}.{{ .Release.Namespace }}:7420
{{- if .Values.ingress.enabled }}
BOTHOST_TRUSTED_PROXIES: {{ .Values.ingress.trustedProxies }}
{{- end }}
# The owner of this folder must be the service, and a volume belongs to root.
BOTHOST_DATA_DIR: /var/lib/bothost/data
BOTHOST_KEY_FILE: /etc/bothost/keys/key
BOTHOST_OPERATOR_TOKEN_FILE: /etc/bothost/keys/operator-token
BOTHOST_METRICS_TOKEN_FILE: /etc/bothost/keys/metrics-token
# Sessions continue while the service is replaced.
BOTHOST_ON_STOP: leave
BOTHOST_SHUTDOWN_GRACE: "60"
BOTHOST_KUBERNETES_NAMESPACE: {{ include "bothost.botNamespace" . }}
BOTHOST_KUBERNETES_USAGE: {{ ternary "kubelet" "off" .Values.bots.usage | quote }}
{{- if .Values.bots.podTemplate }}
BOTHOST_KUBERNETES_POD_TEMPLATE: /etc/bothost/bots/pod.yaml
{{- end }}
{{- end }}
