; The installer for Windows: programs, service, Start menu, entry among installed apps. It
; needs what "build" defines. Silent: starling-VERSION-setup.exe /S, and
; "C:\Program Files\Starling\uninstall.exe" /S, with /PURGE to delete tasks and settings, too.
; Exit status 2: it could not be done, and what was there before is left.

Unicode true
Target amd64-unicode
!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh
!include WinVer.nsh

!if ${COMPRESS} == off
	SetCompress off
!else
	SetCompressor /SOLID lzma
!endif
Name "Starling"
OutFile "${SETUP}"
InstallDir "$PROGRAMFILES64\Starling"
InstallDirRegKey HKLM "${APP}" InstallLocation
RequestExecutionLevel admin
ManifestSupportedOS Win10
!finalize '"${SIGN}" "%1"'
!uninstfinalize '"${SIGN}" "%1"'

VIProductVersion "${NUMBERS}"
VIAddVersionKey ProductName "Starling"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey FileDescription "Starling Setup"
VIAddVersionKey CompanyName "The Starling authors"
VIAddVersionKey LegalCopyright "Apache License 2.0"

!define APP "Software\Microsoft\Windows\CurrentVersion\Uninstall\Starling"
!define SERVICE "SYSTEM\CurrentControlSet\Services\starling"
!define HOME "https://github.com/starling-grid/starling"

!define MUI_ICON "${FILES}/starling.ico"
!define MUI_UNICON "${FILES}/starling.ico"
!define MUI_ABORTWARNING
!define MUI_FINISHPAGE_TITLE "Starling is installed"
!define MUI_FINISHPAGE_TEXT "It works in the background while this computer is idle, as soon as you choose a project in the dashboard."
!define MUI_FINISHPAGE_RUN
!define MUI_FINISHPAGE_RUN_TEXT "Open the dashboard"
!define MUI_FINISHPAGE_RUN_FUNCTION OpenDashboard
!insertmacro MUI_PAGE_LICENSE "${FILES}/LICENSE"
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE English

; Runs a command of the program that is installed; $0 is its exit status, and $1 what it
; printed.
!macro Starling COMMAND
	nsExec::ExecToStack '"$INSTDIR\starling.exe" ${COMMAND}'
	Pop $0
	Pop $1
	DetailPrint $1
!macroend
!define Starling "!insertmacro Starling"

; Deletes a program, whose last process may still be about to end. $0 is "busy" if it cannot.
!macro Free PROGRAM
	StrCpy $0 ""
	${For} $2 1 20
		ClearErrors
		Delete "$INSTDIR\${PROGRAM}"
		${IfNot} ${Errors}
			${Break}
		${EndIf}
		${If} $2 = 20
			StrCpy $0 busy
		${EndIf}
		Sleep 250
	${Next}
!macroend

!macro Refuse TEXT
	MessageBox MB_OK|MB_ICONSTOP "${TEXT}" /SD IDOK
	SetErrorLevel 2
	Abort "${TEXT}"
!macroend

Function .onInit
	SetShellVarContext all
	SetRegView 64
	${IfNot} ${AtLeastWin10}
		!insertmacro Refuse "Starling needs Windows 10 or later."
	${EndIf}
FunctionEnd

Function un.onInit
	SetShellVarContext all
	SetRegView 64
FunctionEnd

; By way of the desktop's program, the browser is the user's and not the administrator's.
Function OpenDashboard
	Exec '"$WINDIR\explorer.exe" "$SMPROGRAMS\Starling\Starling Dashboard.lnk"'
FunctionEnd

Section
	SetOutPath $INSTDIR
	${If} ${FileExists} "$INSTDIR\starling.exe"
		DetailPrint "Stopping the service; tasks resume from their last checkpoint."
		${Starling} "service stop"
		!insertmacro Free starling.exe
		${If} $0 == busy
			${Starling} "service start"
			!insertmacro Refuse "starling.exe is in use. Close all programs and terminals that use Starling, and run this installer again."
		${EndIf}
	${EndIf}
	File "${FILES}/starling.exe" "${FILES}/starling-detect.exe" "${FILES}/starling-wrap.exe" "${FILES}/LICENSE" "${FILES}/THIRD-PARTY-LICENSES" "${FILES}/CHANGELOG.md"
	WriteUninstaller "$INSTDIR\uninstall.exe"

	; The terminal stays open if there is something to be read.
	CreateDirectory "$SMPROGRAMS\Starling"
	CreateShortcut "$SMPROGRAMS\Starling\Starling Dashboard.lnk" "$SYSDIR\cmd.exe" '/c ""$INSTDIR\starling.exe" dashboard || pause"' "$INSTDIR\uninstall.exe" 0 SW_SHOWNORMAL "" "See and control what this computer computes for science"
	CreateShortcut "$SMPROGRAMS\Starling\Starling Command Prompt.lnk" "$SYSDIR\cmd.exe" '/k "set PATH=$INSTDIR;%PATH%"' "$INSTDIR\uninstall.exe" 0 SW_SHOWNORMAL "" "A terminal that knows the command starling"

	WriteRegStr HKLM "${APP}" DisplayName "Starling"
	WriteRegStr HKLM "${APP}" DisplayIcon "$INSTDIR\uninstall.exe,0"
	WriteRegStr HKLM "${APP}" DisplayVersion "${VERSION}"
	WriteRegStr HKLM "${APP}" Publisher "The Starling authors"
	WriteRegStr HKLM "${APP}" URLInfoAbout "${HOME}"
	WriteRegStr HKLM "${APP}" InstallLocation "$INSTDIR"
	WriteRegStr HKLM "${APP}" UninstallString '"$INSTDIR\uninstall.exe"'
	WriteRegStr HKLM "${APP}" QuietUninstallString '"$INSTDIR\uninstall.exe" /S'
	WriteRegDWORD HKLM "${APP}" EstimatedSize ${KILOBYTES}
	WriteRegDWORD HKLM "${APP}" NoModify 1
	WriteRegDWORD HKLM "${APP}" NoRepair 1

	; A service that is there keeps its way to start, which people may have changed.
	ReadRegStr $2 HKLM "${SERVICE}" ImagePath
	${If} $2 == ""
		${Starling} "service install"
	${Else}
		${Starling} "service start"
	${EndIf}
	${If} $0 != 0
		MessageBox MB_OK|MB_ICONEXCLAMATION "Starling is installed, but its service does not run:$\r$\n$\r$\n$1" /SD IDOK
		SetErrorLevel 3
	${EndIf}
SectionEnd

Section Uninstall
	${Starling} "service uninstall"
	!insertmacro Free starling.exe
	${If} $0 == busy
		!insertmacro Refuse "starling.exe is in use. Close all programs and terminals that use Starling, and try again."
	${EndIf}
	Delete "$INSTDIR\starling-detect.exe"
	Delete "$INSTDIR\starling-wrap.exe"
	Delete "$INSTDIR\LICENSE"
	Delete "$INSTDIR\THIRD-PARTY-LICENSES"
	Delete "$INSTDIR\CHANGELOG.md"
	Delete "$INSTDIR\uninstall.exe"
	RMDir $INSTDIR
	RMDir /r "$SMPROGRAMS\Starling"
	DeleteRegKey HKLM "${APP}"

	StrCpy $2 no
	${GetParameters} $0
	ClearErrors
	${GetOptions} $0 "/PURGE" $1
	${IfNot} ${Errors}
		StrCpy $2 yes
	${ElseIf} ${FileExists} "$APPDATA\Starling\*.*"
		MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "Delete tasks, settings and account keys in $APPDATA\Starling as well?$\r$\n$\r$\nIf you keep them, a new installation continues with them." /SD IDNO IDNO +2
		StrCpy $2 yes
	${EndIf}
	${If} $2 == yes
		RMDir /r "$APPDATA\Starling"
	${EndIf}
SectionEnd
